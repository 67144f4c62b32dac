#include "engine/wanted_text.hpp"

#include "core/counted.hpp"

#include <algorithm>

namespace headway::engine {
namespace {

std::string selectors_text(const std::vector<Labels>& selectors) {
  if (selectors.empty()) return "";
  constexpr std::size_t shown_max = 4;
  std::string text = " on nodes with ";
  for (std::size_t i = 0; i < std::min(selectors.size(), shown_max); ++i)
    text += (i == 0 ? "" : ", ") + labels_text(selectors[i]);
  if (selectors.size() > shown_max) text += " and so on";
  return text + (selectors.size() > 1 ? " (one a worker)" : "");
}

}  // namespace

std::string to_text(const Wanted& wanted) {
  std::string text = wanted.workers_min == wanted.workers_max
                         ? counted(wanted.workers_min, "worker")
                         : std::to_string(wanted.workers_min) + " to " + counted(wanted.workers_max, "worker");
  if (!wanted.claim.hard.empty()) text += " with " + resources_text(wanted.claim.hard) + " each";
  if (!wanted.beside.empty()) text += " and " + resources_text(wanted.beside) + " beside them (trainer_resources)";
  text += selectors_text(wanted.claim.selectors);
  if (wanted.placement == Placement::strict_pack) text += " on one node";
  if (wanted.placement == Placement::strict_spread) text += " on a node each";
  return text;
}

}  // namespace headway::engine
