#include "driver/run_history.hpp"

#include <boost/mp11.hpp>

namespace headway::driver {
namespace {

constexpr std::size_t text_max = 16384;
constexpr std::size_t stacks_max = 16;

void cut(std::string& text) {
  if (text.size() <= text_max) return;
  text.resize(text_max);
  // No half of a letter.
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80) != 0) text.pop_back();
  text += " ...";
}

void shorten(AttemptEnded& event) { cut(event.words); }
void shorten(Warned& event) { cut(event.text); }
void shorten(CheckpointValidated& event) {
  if (event.error) cut(*event.error);
}
void shorten(StacksSeen& event) {
  if (event.ranks.size() > stacks_max) event.ranks.resize(stacks_max);
  for (RankStack& stack : event.ranks) cut(stack.text);
}
template <class Event>
void shorten(Event&) {}

}  // namespace

std::string history_line(double at_unix_s, HistoryEvent event) {
  JsonObject line;
  line["at"] = at_unix_s;
  std::visit(
      [&](auto& what) {
        shorten(what);
        line["is"] = what.is;
        line["event"] = to_json(what);
      },
      event);
  return json_text(Json(std::move(line)));
}

std::optional<LoggedHistory> parse_history_line(std::string_view text) {
  const Result<Json> parsed = parse_json(text, history_file);
  const JsonObject* line = parsed ? parsed->if_object() : nullptr;
  const Json* at = line != nullptr ? line->if_contains("at") : nullptr;
  const Json* is = line != nullptr ? line->if_contains("is") : nullptr;
  const Json* event = line != nullptr ? line->if_contains("event") : nullptr;
  if (at == nullptr || !at->is_number() || is == nullptr || !is->is_string() || event == nullptr) return std::nullopt;
  std::optional<LoggedHistory> logged;
  boost::mp11::mp_for_each<boost::mp11::mp_transform<std::type_identity, HistoryEvent>>([&](auto type) {
    using Event = typename decltype(type)::type;
    if (is->get_string() != Event::is) return;
    Result<Event> found = from_json<Event>(*event, history_file);
    if (found) logged = LoggedHistory{at->to_number<double>(), std::move(*found)};
  });
  return logged;
}

}  // namespace headway::driver
