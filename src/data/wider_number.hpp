#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headway::data {

/// The type that has the numbers of both, by Arrow's names, such as "uint8" and "halffloat".
/// Nothing: none has, as of int64 and uint64, or one is no type of numbers. Doubles have integers
/// and fractions, though not all integers beyond 2^53.
std::optional<std::string> wider_number(std::string_view one, std::string_view other);

}  // namespace headway::data
