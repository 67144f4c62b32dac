#include "flow/sources/samples.hpp"

#include <algorithm>

namespace headway::flow {
namespace {

constexpr std::int64_t first_sample = std::int64_t{1} << 20;
constexpr std::int64_t next_sample = std::int64_t{256} << 10;

Piece sample_of(std::size_t file, std::int64_t begin, std::int64_t bytes) {
  return {.file = file, .begin = begin, .end = begin + bytes, .rows = -1, .bytes = bytes};
}

}  // namespace

std::vector<Piece> sample_pieces(const std::vector<SourceFile>& files) {
  std::vector<Piece> samples = {sample_of(0, 0, first_sample)};
  const SourceFile& first = files.front();
  if (first.bytes > 4 * first_sample && !is_compressed(first.location)) {
    samples.push_back(sample_of(0, first.bytes / 2, next_sample));
    samples.push_back(sample_of(0, first.bytes - next_sample, next_sample));
  }
  const std::size_t last = files.size() - 1;
  if (last > 1) samples.push_back(sample_of(last / 2, 0, next_sample));
  if (last > 0) samples.push_back(sample_of(last, 0, next_sample));
  return samples;
}

}  // namespace headway::flow
