#include "data/philox.hpp"

#include <cmath>
#include <utility>

namespace headway::data {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::uint64_t key) {
  constexpr std::uint64_t multiplier_0 = 0xD2511F53;
  constexpr std::uint64_t multiplier_1 = 0xCD9E8D57;
  constexpr std::uint32_t weyl_0 = 0x9E3779B9;
  constexpr std::uint32_t weyl_1 = 0xBB67AE85;
  auto key_0 = static_cast<std::uint32_t>(key);
  auto key_1 = static_cast<std::uint32_t>(key >> 32U);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product_0 = multiplier_0 * counter[0];
    const std::uint64_t product_1 = multiplier_1 * counter[2];
    counter = {static_cast<std::uint32_t>(product_1 >> 32U) ^ counter[1] ^ key_0, static_cast<std::uint32_t>(product_1),
               static_cast<std::uint32_t>(product_0 >> 32U) ^ counter[3] ^ key_1,
               static_cast<std::uint32_t>(product_0)};
    key_0 += weyl_0;
    key_1 += weyl_1;
  }
  return counter;
}

RandomStream::RandomStream(std::uint64_t seed, std::uint32_t epoch, Purpose purpose, std::uint32_t number,
                           std::uint32_t lane)
    : seed_(seed), counter_{0, number, epoch, static_cast<std::uint32_t>(purpose) | lane << 8U} {}

void RandomStream::refill() {
  block_ = philox(counter_, seed_);
  ++counter_[0];
  used_ = 0;
}

void shuffle(std::span<std::uint32_t> values, RandomStream& stream) {
  for (std::size_t left = values.size(); left > 1; --left) {
    std::swap(values[left - 1], values[stream.below(static_cast<std::uint32_t>(left))]);
  }
}

std::uint64_t function_seed(std::uint64_t seed, std::uint32_t epoch, std::uint32_t unit) {
  RandomStream stream(seed, epoch, Purpose::function, unit);
  const std::uint64_t high = stream.next();
  return high << 32U | stream.next();
}

RowSample::RowSample(double fraction, std::uint64_t seed, std::uint32_t unit)
    : stream_(seed, 0, Purpose::sample, unit), limit_(static_cast<std::uint64_t>(std::ldexp(fraction, 32))) {}

}  // namespace headway::data
