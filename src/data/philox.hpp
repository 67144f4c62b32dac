#pragma once

#include <array>
#include <cstdint>
#include <span>

/// Randomness by number: what comes out is a function of seed and counter alone, on every machine.
namespace headway::data {

/// Philox4x32-10: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel Random Numbers: As
/// Easy as 1, 2, 3", SC 2011, doi:10.1145/2063384.2063405: ten rounds, with the paper's constants.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::uint64_t key);

/// What a stream is for: streams of two purposes have nothing in common.
enum class Purpose : std::uint32_t { units, rows, sample, function };

/// The numbers of one (seed, epoch, purpose, number), in order. 2^34 of them.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::uint32_t epoch, Purpose purpose, std::uint32_t number, std::uint32_t lane = 0);

  /// Any 32 bits.
  std::uint32_t next() {
    if (used_ == block_.size()) refill();
    return block_[used_++];
  }

  /// 0 up to `bound` - 1, each with the same chance; `bound` is not 0. D. Lemire, "Fast Random
  /// Integer Generation in an Interval", ACM TOMACS 29 (2019).
  std::uint32_t below(std::uint32_t bound) {
    std::uint64_t product = std::uint64_t{next()} * bound;
    if (static_cast<std::uint32_t>(product) < bound) {
      const std::uint32_t least = (0U - bound) % bound;
      while (static_cast<std::uint32_t>(product) < least) product = std::uint64_t{next()} * bound;
    }
    return static_cast<std::uint32_t>(product >> 32U);
  }

 private:
  void refill();

  std::uint64_t seed_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  std::size_t used_ = 4;
};

/// Puts the values into a random order (Fisher and Yates), each order with the same chance.
void shuffle(std::span<std::uint32_t> values, RandomStream& stream);

/// Seeds the random generators of a function worker before it gets a unit.
std::uint64_t function_seed(std::uint64_t seed, std::uint32_t epoch, std::uint32_t unit);

/// Which rows of a unit `sample` keeps: asked once for each row, in order.
class RowSample {
 public:
  RowSample(double fraction, std::uint64_t seed, std::uint32_t unit);
  bool keeps_next() { return stream_.next() < limit_; }

 private:
  RandomStream stream_;
  std::uint64_t limit_;  ///< fraction * 2^32.
};

}  // namespace headway::data
