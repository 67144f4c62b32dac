#include "control/elastic_size.hpp"

#include "control/marks.hpp"
#include "control/worker_group.hpp"
#include "core/counted.hpp"

#include <utility>

namespace headway::control {

bool ElasticSize::wants_nodes(int workers) {
  const bool larger = elastic() && growth_.hinted() && workers < max_;
  return std::exchange(resizing_, false) || larger;
}

std::optional<std::string> ElasticSize::size_notice(int workers) {
  if (!elastic() || workers == told_) return std::nullopt;
  if (told_ > workers) HEADWAY_MARK(shrunk);
  const std::string before = told_ > 0 ? ", " + std::to_string(told_) + " before" : "";
  told_ = workers;
  return "The worker group has " + counted(workers, "worker") + " now" + before + " (num_workers is " +
         std::to_string(min_) + " to " + std::to_string(max_) + ")";
}

}  // namespace headway::control
