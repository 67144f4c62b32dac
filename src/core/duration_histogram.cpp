#include "core/duration_histogram.hpp"

#include <algorithm>
#include <cmath>

namespace headway {

void DurationHistogram::add(Duration duration) {
  duration = std::max(duration, Duration::zero());
  const double octave = std::log2(std::max(1.0, to_seconds(duration) * 1e6));
  const auto bucket = static_cast<std::size_t>(octave * buckets_an_octave);
  ++counts_[std::min(bucket, counts_.size() - 1)];
  ++count_;
  total_ += duration;
  longest_ = std::max(longest_, duration);
}

Duration DurationHistogram::quantile(double part) const {
  const auto wanted = static_cast<std::int64_t>(std::ceil(part * static_cast<double>(count_)));
  std::int64_t seen = 0;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    seen += counts_[bucket];
    if (seen == 0 || seen < wanted) continue;
    const double middle_us = std::exp2((static_cast<double>(bucket) + 0.5) / buckets_an_octave);
    return std::min(longest_, from_seconds(middle_us * 1e-6));
  }
  return {};
}

}  // namespace headway
