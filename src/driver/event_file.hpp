#pragma once

#include "driver/append_file.hpp"
#include "driver/flat_metrics.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace headway::driver {

/// CRC32C of some bytes (Castagnoli's polynomial), masked as TFRecord files have it: rotated right
/// by 15 bits, plus 0xa282ead8. Source: tensorflow/core/lib/hash/crc32c.h (Mask) and
/// tensorflow.org/tutorials/load_data/tfrecord (TFRecords format details).
std::uint32_t masked_crc32c(std::string_view bytes);

/// A TFRecord around `data`: its length (8 bytes, little endian), the masked CRC of the length, the
/// data, the masked CRC of the data.
std::string tf_record(std::string_view data);

/// TensorBoard's events of a run, `events.out.tfevents.<seconds since 1970>.<host>`: a TFRecord
/// each, which holds a protobuf `Event` (tensorboard/compat/proto/event.proto and summary.proto).
/// The file is made by the first `append`; a run that is taken up again begins another one beside
/// it, and TensorBoard reads them as one. Used from one thread at a time.
class EventFile {
 public:
  explicit EventFile(std::string directory) : directory_(std::move(directory)) {}

  /// Adds the numbers and booleans among `metrics` as scalars, NaN and infinities too; what is no
  /// number is left out. TensorBoard has scalars as 32-bit floats. Errors: `unavailable`; the
  /// scalars are then not in the file.
  Result<void> append(const FlatMetrics& metrics, std::int64_t step, double unix_s);

 private:
  Result<void> begin(double unix_s);

  std::string directory_;
  std::unique_ptr<AppendFile> file_;
};

}  // namespace headway::driver
