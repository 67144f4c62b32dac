#include "feed/column_places.hpp"

#include <algorithm>
#include <charconv>

namespace headway::feed {
namespace {

constexpr std::string_view fixed_list = "fixed_size_list<";

struct Arrays {
  std::size_t nodes = 0;
  std::size_t buffers = 0;
};

/// Of a type by its name; nothing where the name does not say it.
std::optional<Arrays> arrays_of(std::string_view type) {
  if (type == "null") return Arrays{1, 1};
  for (const std::string_view text : {"string", "binary", "large_string", "large_binary"}) {
    if (type == text) return Arrays{1, 3};
  }
  if (const std::optional<std::string> element = element_of(type)) {
    const std::optional<Arrays> inner = arrays_of(*element);
    if (!inner) return std::nullopt;
    return Arrays{1 + inner->nodes, (type.starts_with(fixed_list) ? 1 : 2) + inner->buffers};
  }
  if (type.find('<') != std::string_view::npos) return std::nullopt;
  return Arrays{1, 2};
}

std::optional<Arrays> arrays_of(const LayoutColumn& column) {
  if (!column.shape.empty()) return Arrays{2, 3};
  return arrays_of(column.type);
}

}  // namespace

std::optional<std::string> element_of(std::string_view type) {
  std::string_view rest;
  for (const std::string_view list : {std::string_view("list<"), std::string_view("large_list<"), fixed_list}) {
    if (type.starts_with(list)) rest = type.substr(list.size());
  }
  const std::size_t end = rest.rfind('>');
  const std::size_t name_end = rest.find(": ");
  if (end == std::string_view::npos || name_end == std::string_view::npos || name_end > end) return std::nullopt;
  std::string_view element = rest.substr(name_end + 2, end - name_end - 2);
  constexpr std::string_view required = " not null";
  if (element.ends_with(required)) element.remove_suffix(required.size());
  return std::string(element);
}

std::optional<std::int64_t> fixed_length_of(std::string_view type) {
  const std::size_t open = type.rfind('[');
  if (!type.starts_with("fixed_size_") || !type.ends_with(']') || open == std::string_view::npos) return std::nullopt;
  std::int64_t length = 0;
  const char* const end = type.data() + type.size() - 1;
  const auto [stopped, failure] = std::from_chars(type.data() + open + 1, end, length);
  if (failure != std::errc() || stopped != end) return std::nullopt;
  return length;
}

std::vector<std::optional<ColumnPlace>> places_of(std::span<const LayoutColumn> columns, std::size_t nodes,
                                                  std::size_t buffers) {
  std::vector<std::optional<ColumnPlace>> places(columns.size());
  ColumnPlace next;
  std::size_t known = 0;
  for (; known < columns.size(); ++known) {
    const std::optional<Arrays> arrays = arrays_of(columns[known]);
    if (!arrays) break;
    places[known] = next;
    next = {next.node + arrays->nodes, next.buffer + arrays->buffers};
  }
  const bool fits = next.node <= nodes && next.buffer <= buffers;
  const bool all = known == columns.size() && next.node == nodes && next.buffer == buffers;
  if (!fits || (known == columns.size() && !all)) return std::vector<std::optional<ColumnPlace>>(columns.size());
  ColumnPlace end{nodes, buffers};
  for (std::size_t column = columns.size(); column-- > known + 1;) {
    const std::optional<Arrays> arrays = arrays_of(columns[column]);
    if (!arrays || arrays->nodes + next.node > end.node || arrays->buffers + next.buffer > end.buffer) break;
    end = {end.node - arrays->nodes, end.buffer - arrays->buffers};
    places[column] = end;
  }
  return places;
}

}  // namespace headway::feed
