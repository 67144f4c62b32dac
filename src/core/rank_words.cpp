#include "core/rank_words.hpp"

namespace headway {

std::string rank_list(const std::vector<int>& ranks) {
  constexpr std::size_t parts_max = 8;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  std::size_t place = 0;
  for (std::size_t part = 0; place < ranks.size() && part < parts_max; ++part) {
    std::size_t last = place;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (last < place + 2) last = place;  // Two are as short one by one.
    text += (part == 0 ? "" : ", ") + std::to_string(ranks[place]);
    if (last > place) text += " to " + std::to_string(ranks[last]);
    place = last + 1;
  }
  if (place < ranks.size()) text += " and " + std::to_string(ranks.size() - place) + " more";
  return text;
}

std::string ranks_have(const std::vector<int>& ranks) {
  return rank_list(ranks) + (ranks.size() == 1 ? " has" : " have");
}

}  // namespace headway
