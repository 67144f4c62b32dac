#include "data/exact_order.hpp"

#include "data/philox.hpp"

#include <algorithm>
#include <bit>

namespace headway::data {

std::uint64_t key_start(std::uint64_t seed, std::uint32_t epoch, std::uint32_t number, std::uint32_t lane) {
  RandomStream stream(seed, epoch, Purpose::rows, number, lane);
  const std::uint64_t high = stream.next();
  return high << 32U | stream.next();
}

/// Keys are spread evenly: their first bits sort rows into buckets of eight or so.
void exact_order(std::uint64_t start, std::vector<std::uint32_t>& to) {
  const std::uint64_t rows = to.size();
  const auto shift = static_cast<unsigned>(64 - std::max(1, static_cast<int>(std::bit_width(rows / 8))));
  std::vector<std::uint32_t> ends((std::uint64_t{1} << (64 - shift)) + 1);
  for (std::uint64_t row = 0; row < rows; ++row) ++ends[(row_key(start, row) >> shift) + 1];
  for (std::size_t bucket = 1; bucket < ends.size(); ++bucket) ends[bucket] += ends[bucket - 1];
  for (std::uint64_t row = 0; row < rows; ++row) {
    to[ends[row_key(start, row) >> shift]++] = static_cast<std::uint32_t>(row);
  }
  const auto by_key = [start](std::uint32_t a, std::uint32_t b) { return row_key(start, a) < row_key(start, b); };
  std::uint32_t begin = 0;
  for (std::size_t bucket = 0; bucket + 1 < ends.size(); ++bucket) {
    std::sort(to.begin() + begin, to.begin() + ends[bucket], by_key);
    begin = ends[bucket];
  }
}

}  // namespace headway::data
