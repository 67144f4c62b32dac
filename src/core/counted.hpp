#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace headway {

/// "1 worker", "2 workers": so many of a thing whose plural has an s.
std::string counted(std::integral auto count, std::string_view thing) {
  return std::to_string(count) + " " + std::string(thing) + (count == 1 ? "" : "s");
}

}  // namespace headway
