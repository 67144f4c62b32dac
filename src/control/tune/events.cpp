#include "control/tune/events.hpp"

#include <boost/mp11.hpp>

namespace headway::control::tune {

std::string to_line(Time at, const TuneEvent& event) {
  JsonObject line;
  line["at"] = to_seconds(at.time_since_epoch());
  std::visit(
      [&](const auto& what) {
        line["is"] = what.is;
        line["event"] = to_json(what);
      },
      event);
  return json_text(Json(std::move(line)));
}

Result<LoggedEvent> from_line(std::string_view text) {
  const Result<Json> parsed = parse_json(text, "an experiment's journal");
  if (!parsed) return parsed.error();
  const JsonObject* line = parsed->if_object();
  const Json* at = line != nullptr ? line->if_contains("at") : nullptr;
  const Json* is = line != nullptr ? line->if_contains("is") : nullptr;
  const Json* event = line != nullptr ? line->if_contains("event") : nullptr;
  if (at == nullptr || !at->is_number() || is == nullptr || !is->is_string() || event == nullptr) {
    return Error{ErrorKind::corrupted, "an experiment's journal: expected at, is and event"};
  }
  LoggedEvent logged{Time(from_seconds(at->to_number<double>())), {}};
  Result<void> read = Error{ErrorKind::corrupted, "an experiment's journal: no event is " + json_text(*is)};
  boost::mp11::mp_for_each<boost::mp11::mp_transform<std::type_identity, TuneEvent>>([&](auto type) {
    using Event = typename decltype(type)::type;
    if (is->get_string() != Event::is) return;
    Result<Event> found = from_json<Event>(*event, "an event of an experiment's journal");
    if (found) {
      logged.event = std::move(*found);
      read = {};
    } else {
      read = found.error();
    }
  });
  if (!read) return read.error();
  return logged;
}

}  // namespace headway::control::tune
