#pragma once

#include "feed/feed_messages.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Which arrays of a slot belong to which column, for clients without Arrow: they know a column's
/// type by its name alone.
namespace headway::feed {

/// A column's first array, and the first of its buffers.
struct ColumnPlace {
  std::size_t node = 0;
  std::size_t buffer = 0;
};

/// The places of columns in slots with so many nodes and buffers. A struct, a map and an extension
/// type have a number of arrays that their names do not say: columns behind the first of them are
/// counted from the end, and what stands between two of them has no place, nor have these
/// themselves. When the names do not fit the numbers, no column has a place.
std::vector<std::optional<ColumnPlace>> places_of(std::span<const LayoutColumn> columns, std::size_t nodes,
                                                  std::size_t buffers);

/// The elements' type of a list, a large list or a list of a fixed length: "float" of
/// "list<item: float not null>". Nothing for another type.
std::optional<std::string> element_of(std::string_view type);

/// The length that "fixed_size_list<item: float>[3]" or "fixed_size_binary[16]" names.
std::optional<std::int64_t> fixed_length_of(std::string_view type);

}  // namespace headway::feed
