#include "data/wider_number.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace headway::data {
namespace {

enum class Kind { natural, integer, fraction };

struct NumberType {
  Kind kind;
  int bits;

  bool operator==(const NumberType&) const = default;
};

constexpr std::array<std::pair<std::string_view, NumberType>, 11> number_types = {{{"int8", {Kind::integer, 8}},
                                                                                   {"int16", {Kind::integer, 16}},
                                                                                   {"int32", {Kind::integer, 32}},
                                                                                   {"int64", {Kind::integer, 64}},
                                                                                   {"uint8", {Kind::natural, 8}},
                                                                                   {"uint16", {Kind::natural, 16}},
                                                                                   {"uint32", {Kind::natural, 32}},
                                                                                   {"uint64", {Kind::natural, 64}},
                                                                                   {"halffloat", {Kind::fraction, 16}},
                                                                                   {"float", {Kind::fraction, 32}},
                                                                                   {"double", {Kind::fraction, 64}}}};

std::optional<NumberType> wider_type(const NumberType& one, const NumberType& other) {
  if (one.kind == other.kind) return one.bits < other.bits ? other : one;
  if (one.kind == Kind::fraction || other.kind == Kind::fraction) return NumberType{Kind::fraction, 64};
  const auto& [natural, integer] = one.kind == Kind::natural ? std::pair(one, other) : std::pair(other, one);
  if (natural.bits == 64) return {};
  return NumberType{Kind::integer, std::max(2 * natural.bits, integer.bits)};
}

}  // namespace

std::optional<std::string> wider_number(std::string_view one, std::string_view other) {
  const auto* const first = std::ranges::find(number_types, one, [](const auto& each) { return each.first; });
  const auto* const second = std::ranges::find(number_types, other, [](const auto& each) { return each.first; });
  if (first == number_types.end() || second == number_types.end()) return {};
  const auto wider = wider_type(first->second, second->second);
  if (!wider) return {};
  const auto* const found = std::ranges::find(number_types, *wider, [](const auto& each) { return each.second; });
  return std::string(found->first);
}

}  // namespace headway::data
