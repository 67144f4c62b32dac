#pragma once

#include <cstdint>
#include <vector>

/// The order of a shuffle over all rows: that of a key for each row, which is a function of seed,
/// epoch and the row's number. It does not depend on how many rows follow, so rows can be sorted by
/// it that do not fit into memory, and come in the same order as rows that do.
namespace headway::data {

/// Added to the number of a row for each row: 2^64 divided by the golden ratio, made odd.
inline constexpr std::uint64_t key_step = 0x9E3779B97F4A7C15U;

/// Where the keys of an epoch begin.
std::uint64_t key_start(std::uint64_t seed, std::uint32_t epoch, std::uint32_t number = 0, std::uint32_t lane = 0);

/// SplitMix64: G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators",
/// OOPSLA 2014, doi:10.1145/2660193.2660195. One to one: two rows never have the same key.
/// `row_keys` of `headway._worker.functions.whole_queries` computes the same.
inline std::uint64_t row_key(std::uint64_t start, std::uint64_t row) {
  std::uint64_t key = start + (row + 1) * key_step;
  key = (key ^ (key >> 30U)) * 0xBF58476D1CE4E5B9U;
  key = (key ^ (key >> 27U)) * 0x94D049BB133111EBU;
  return key ^ (key >> 31U);
}

/// `to[i]` is the number of the row that comes i-th: the rows 0 to `to.size()` - 1 by their keys.
void exact_order(std::uint64_t start, std::vector<std::uint32_t>& to);

}  // namespace headway::data
