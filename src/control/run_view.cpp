#include "control/run_view.hpp"

namespace headway::control {

void tag_invoke(boost::json::value_from_tag, Json& json, const KeptCheckpoints& checkpoints) {
  json = checkpoints ? boost::json::value_from(*checkpoints) : Json(JsonArray{});
}

Json to_json(const RunView& view) { return boost::json::value_from(view); }

}  // namespace headway::control
