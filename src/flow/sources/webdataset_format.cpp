#include "core/location.hpp"
#include "core/text.hpp"
#include "flow/sources/formats.hpp"
#include "flow/sources/read_options.hpp"
#include "flow/sources/tar_files.hpp"

#include <arrow/array.h>
#include <arrow/array/builder_base.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/buffer.h>
#include <arrow/io/buffered.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_set>

namespace headway::flow {
namespace {

constexpr std::string_view key_column = "__key__";
constexpr std::string_view url_column = "__url__";
constexpr std::int64_t tar_buffer_bytes = std::int64_t{1} << 20;
constexpr std::int64_t sample_batch_bytes = std::int64_t{4} << 20;
constexpr int sampled_samples = 100;

struct WebdatasetOptions {
  std::optional<std::vector<std::string>> suffixes;
  bool decode = true;
};

/// The files of one key, by suffix.
struct TarSample {
  std::string key;
  std::map<std::string, std::shared_ptr<arrow::Buffer>> files;
};

/// Samples of an archive: files that follow each other with one name up to the first dot.
class SampleReader {
 public:
  explicit SampleReader(std::shared_ptr<arrow::io::InputStream> stream) : files_(std::move(stream)) {}

  arrow::Result<std::optional<TarSample>> next() {
    TarSample sample;
    while (true) {
      if (!waiting_) {
        ARROW_ASSIGN_OR_RAISE(waiting_, files_.next());
      }
      if (!waiting_) break;
      const std::string& name = waiting_->name;
      const std::size_t folder = name.rfind('/') + 1;
      const std::size_t dot = name.find('.', folder);
      if (dot == std::string::npos || dot == folder) {
        waiting_.reset();
        continue;
      }
      const std::string key = name.substr(0, dot);
      if (!sample.files.empty() && key != sample.key) break;
      ARROW_RETURN_NOT_OK(add(key, name.substr(dot + 1), sample));
    }
    if (sample.files.empty()) return std::nullopt;
    return sample;
  }

 private:
  arrow::Status add(const std::string& key, std::string suffix, TarSample& sample) {
    if (sample.files.empty() && !seen_.insert(key).second) {
      return arrow::Status::Invalid("the files of the sample ", key, " are not all next to each other in the archive; ",
                                    "tar --sort=name makes one in which they are");
    }
    sample.key = key;
    const auto [place, is_new] = sample.files.emplace(std::move(suffix), std::move(waiting_->bytes));
    if (!is_new) return arrow::Status::Invalid("the sample ", key, " has two files .", place->first);
    waiting_.reset();
    return arrow::Status::OK();
  }

  TarReader files_;
  std::optional<TarFile> waiting_;
  std::unordered_set<std::string> seen_;
};

/// What the last part of a suffix says of a file. Decoders of what else Ray decodes are in
/// python/headway/data/_webdataset.py.
std::shared_ptr<arrow::DataType> type_of_suffix(const std::string& suffix, bool decode) {
  static constexpr std::array<std::string_view, 3> texts = {"txt", "text", "json"};
  static constexpr std::array<std::string_view, 2> numbers = {"cls", "cls2"};
  const std::string_view last = std::string_view(suffix).substr(suffix.rfind('.') + 1);
  if (decode && std::find(texts.begin(), texts.end(), last) != texts.end()) return arrow::utf8();
  if (decode && std::find(numbers.begin(), numbers.end(), last) != numbers.end()) return arrow::int64();
  return arrow::binary();
}

arrow::Result<SampleReader> open_samples(const SourceFile& file, arrow::MemoryPool* pool) {
  ARROW_ASSIGN_OR_RAISE(auto raw, open_decompressed(file.location, pool));
  ARROW_ASSIGN_OR_RAISE(auto stream, arrow::io::BufferedInputStream::Create(tar_buffer_bytes, pool, std::move(raw)));
  return SampleReader(std::move(stream));
}

arrow::Result<std::int64_t> number_in(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure == std::errc() && end == text.data() + text.size()) return value;
  return arrow::Status::Invalid("is no integer: ", std::string(text.substr(0, 40)));
}

class SampleBatches : public arrow::RecordBatchReader {
 public:
  SampleBatches(SampleReader samples, std::string url, const arrow::Schema& all, bool suffixes_given,
                std::shared_ptr<arrow::Schema> schema, arrow::MemoryPool* pool)
      : samples_(std::move(samples)),
        url_(std::move(url)),
        all_(all),
        suffixes_given_(suffixes_given),
        schema_(std::move(schema)),
        pool_(pool) {}

  std::shared_ptr<arrow::Schema> schema() const override { return schema_; }

  arrow::Status ReadNext(std::shared_ptr<arrow::RecordBatch>* out) override {
    std::vector<TarSample> samples;
    std::int64_t bytes = 0;
    while (bytes < sample_batch_bytes) {
      ARROW_ASSIGN_OR_RAISE(auto sample, samples_.next());
      if (!sample) break;
      for (const auto& [suffix, content] : sample->files) {
        bytes += content->size();
        if (suffixes_given_ || all_.GetFieldIndex(suffix) >= 0) continue;
        return arrow::Status::Invalid("the sample ", sample->key, " has an additional file .", suffix,
                                      "; the columns are those of a sample: suffixes names them all");
      }
      samples.push_back(std::move(*sample));
    }
    *out = nullptr;
    if (samples.empty()) return arrow::Status::OK();
    arrow::ArrayVector columns;
    for (const auto& field : schema_->fields()) {
      ARROW_ASSIGN_OR_RAISE(auto values, column(*field, samples));
      columns.push_back(std::move(values));
    }
    *out = arrow::RecordBatch::Make(schema_, static_cast<std::int64_t>(samples.size()), std::move(columns));
    return arrow::Status::OK();
  }

 private:
  arrow::Result<std::shared_ptr<arrow::Array>> column(const arrow::Field& field,
                                                      const std::vector<TarSample>& samples) const {
    std::unique_ptr<arrow::ArrayBuilder> builder;
    ARROW_RETURN_NOT_OK(arrow::MakeBuilder(pool_, field.type(), &builder));
    for (const TarSample& sample : samples) {
      const arrow::Status appended = append(field, sample, *builder);
      if (!appended.ok()) {
        return appended.WithMessage("the file .", field.name(), " of the sample ", sample.key, " ", appended.message());
      }
    }
    return builder->Finish();
  }

  arrow::Status append(const arrow::Field& field, const TarSample& sample, arrow::ArrayBuilder& builder) const {
    if (field.name() == url_column) return static_cast<arrow::StringBuilder&>(builder).Append(url_);
    if (field.name() == key_column) return static_cast<arrow::StringBuilder&>(builder).Append(sample.key);
    const auto found = sample.files.find(field.name());
    if (found == sample.files.end()) return builder.AppendNull();
    const std::string_view bytes(*found->second);
    if (field.type()->id() != arrow::Type::INT64) return static_cast<arrow::BinaryBuilder&>(builder).Append(bytes);
    ARROW_ASSIGN_OR_RAISE(const std::int64_t number, number_in(bytes));
    return static_cast<arrow::Int64Builder&>(builder).Append(number);
  }

  SampleReader samples_;
  std::string url_;
  const arrow::Schema& all_;
  bool suffixes_given_;
  std::shared_ptr<arrow::Schema> schema_;
  arrow::MemoryPool* pool_;
};

class WebdatasetFormat : public FileFormat {
 public:
  explicit WebdatasetFormat(WebdatasetOptions options) : options_(std::move(options)) {}

  arrow::Result<std::shared_ptr<arrow::Schema>> open(const std::vector<SourceFile>& files,
                                                     arrow::MemoryPool* pool) override {
    std::vector<std::string> suffixes;
    if (options_.suffixes) {
      suffixes = *options_.suffixes;
    } else {
      for (const SourceFile* file : {&files.front(), &files.back()}) {
        const arrow::Status sampled = add_suffixes(*file, pool, suffixes);
        if (!sampled.ok()) return sampled.WithMessage(shown_location(file->location), ": ", sampled.message());
      }
    }
    arrow::FieldVector fields = {arrow::field(std::string(key_column), arrow::utf8())};
    for (const std::string& suffix : suffixes) {
      fields.push_back(arrow::field(suffix, type_of_suffix(suffix, options_.decode)));
    }
    fields.push_back(arrow::field(std::string(url_column), arrow::utf8()));
    schema_ = arrow::schema(std::move(fields));
    return schema_;
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read(const SourceFile& file, const Piece&,
                                                                const std::vector<int>& columns,
                                                                arrow::MemoryPool* pool) const override {
    ARROW_ASSIGN_OR_RAISE(SampleReader samples, open_samples(file, pool));
    arrow::FieldVector fields;
    for (const int column : columns) fields.push_back(schema_->field(column));
    std::string url = to_utf8(users_path(file.location));
    return std::make_shared<SampleBatches>(std::move(samples), std::move(url), *schema_, options_.suffixes.has_value(),
                                           arrow::schema(std::move(fields)), pool);
  }

 private:
  static arrow::Status add_suffixes(const SourceFile& file, arrow::MemoryPool* pool,
                                    std::vector<std::string>& suffixes) {
    ARROW_ASSIGN_OR_RAISE(SampleReader samples, open_samples(file, pool));
    for (int i = 0; i < sampled_samples; ++i) {
      ARROW_ASSIGN_OR_RAISE(const auto sample, samples.next());
      if (!sample) break;
      for (const auto& [suffix, bytes] : sample->files) {
        if (std::find(suffixes.begin(), suffixes.end(), suffix) == suffixes.end()) suffixes.push_back(suffix);
      }
    }
    return arrow::Status::OK();
  }

  WebdatasetOptions options_;
  std::shared_ptr<arrow::Schema> schema_;
};

}  // namespace

FormatResult webdataset_format(const data::ReadNode& read) {
  const OptionView options(read.options, read.format);
  WebdatasetOptions made;
  ARROW_ASSIGN_OR_RAISE(made.suffixes, options.texts("suffixes"));
  ARROW_ASSIGN_OR_RAISE(made.decode, options.flag("decode", true));
  ARROW_ASSIGN_OR_RAISE(const bool expand_json, options.flag("expand_json", false));
  if (expand_json) return options.misfit("expand_json", "false: a function of the rows parses their JSON");
  return std::make_unique<WebdatasetFormat>(std::move(made));
}

}  // namespace headway::flow
