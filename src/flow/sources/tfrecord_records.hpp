#pragma once

#include <arrow/io/type_fwd.h>
#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// TFRecord files (tensorflow.org/tutorials/load_data/tfrecord) and the tf.train.Example in them.
namespace headway::flow {

/// Records one after the other. Errors: Invalid for a checksum that does not fit and for a record
/// that ends early, with its number.
class RecordReader {
 public:
  RecordReader(std::shared_ptr<arrow::io::InputStream> stream) : stream_(std::move(stream)) {}

  /// Null at the end.
  arrow::Result<std::shared_ptr<arrow::Buffer>> next();

 private:
  arrow::Status broken(const char* why) const;

  std::shared_ptr<arrow::io::InputStream> stream_;
  std::int64_t read_ = 0;
};

/// A record with its length and checksums.
void append_record(std::string_view bytes, std::string& out);

struct Feature {
  enum class Kind { none, bytes, floats, integers };
  Kind kind = Kind::none;
  std::vector<std::string_view> bytes;
  std::vector<float> floats;
  std::vector<std::int64_t> integers;

  std::size_t count() const { return bytes.size() + floats.size() + integers.size(); }
};

/// The features of an Example; they point into `bytes`. Errors: Invalid for what is none.
arrow::Result<std::map<std::string_view, Feature>> parse_example(std::string_view bytes);

/// An Example in its wire format.
class ExampleBuilder {
 public:
  void add(std::string_view name, const Feature& feature);
  /// What was added since the last call.
  std::string finish();

 private:
  std::string features_;
};

}  // namespace headway::flow
