#include "engine/bridge_messages.hpp"

#include "core/terminal_text.hpp"
#include "core/text.hpp"

namespace headway::engine {

namespace {

std::vector<BridgePart> to_parts(const std::vector<Demand::Part>& parts) {
  std::vector<BridgePart> said;
  for (const auto& [wish, times] : parts) {
    said.push_back({times, wish.workers_min, wish.workers_max, wish.each, wish.advised_cpus, wish.selectors,
                    std::string(to_text(wish.placement)), wish.beside});
  }
  return said;
}

}  // namespace

BridgeWant to_want(const Demand& demand) { return {"want", to_parts(demand.parts), to_parts(demand.could_use)}; }

Result<BridgeSays> to_says(std::string_view line) {
  constexpr std::size_t columns_shown = 120;
  constexpr std::size_t text_columns_max = 2000;
  const auto refused = [&](const std::string& why) {
    return Error{ErrorKind::corrupted, why + ": " + cut_to(without_escapes(to_utf8(line)), columns_shown)};
  };
  const auto parsed = from_json_text<BridgeSays>(line, "what it says");
  if (!parsed) return refused("it writes a line that is no message");
  BridgeSays says = *parsed;
  const bool has_text = says.kind == "warn" || says.kind == "failed";
  if (!has_text && says.kind != "ready" && says.kind != "pong") return refused("it writes a message of no known kind");
  if (has_text && !says.text) return refused("it writes a message without its text");
  if (says.text) says.text = cut_to(without_escapes(to_utf8(*says.text)), text_columns_max);
  return says;
}

}  // namespace headway::engine
