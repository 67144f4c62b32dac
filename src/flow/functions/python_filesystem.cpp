#include "flow/functions/python_filesystem.hpp"

#include "flow/sources/files.hpp"
#include "storage/python_exception.hpp"
#include "storage/remote/remote.hpp"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <cstring>
#include <utility>

/// The other end is python/headway/_worker/functions/served_files.py.
namespace headway::flow {
namespace {

/// A worker's answer has at most so many bytes of a file.
constexpr std::int64_t piece_bytes = std::int64_t{8} << 20;

struct Question {
  std::string what;
  std::string path;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

std::shared_ptr<arrow::Schema> question_schema() {
  return arrow::schema({arrow::field("what", arrow::utf8()), arrow::field("path", arrow::utf8()),
                        arrow::field("offset", arrow::int64()), arrow::field("bytes", arrow::int64())});
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> batch_of(const Question& question) {
  arrow::StringBuilder what, path;
  arrow::Int64Builder offset, bytes;
  ARROW_RETURN_NOT_OK(what.Append(question.what));
  ARROW_RETURN_NOT_OK(path.Append(question.path));
  ARROW_RETURN_NOT_OK(offset.Append(question.offset));
  ARROW_RETURN_NOT_OK(bytes.Append(question.bytes));
  arrow::ArrayVector columns(4);
  ARROW_RETURN_NOT_OK(what.Finish(&columns[0]));
  ARROW_RETURN_NOT_OK(path.Finish(&columns[1]));
  ARROW_RETURN_NOT_OK(offset.Finish(&columns[2]));
  ARROW_RETURN_NOT_OK(bytes.Finish(&columns[3]));
  return arrow::RecordBatch::Make(question_schema(), 1, std::move(columns));
}

/// One batch of an answer.
class Answer {
 public:
  explicit Answer(const arrow::RecordBatch& rows) : rows_(&rows) {}

  std::int64_t rows() const { return rows_->num_rows(); }
  storage::Entry entry(std::int64_t row) const {
    return {column<arrow::StringArray>("name").GetString(row), column<arrow::BooleanArray>("directory").Value(row),
            static_cast<std::uint64_t>(column<arrow::Int64Array>("size").Value(row))};
  }
  std::string_view bytes(std::int64_t row) const { return column<arrow::BinaryArray>("data").GetView(row); }
  /// What was raised; none if the row is no exception.
  std::optional<Error> error(std::int64_t row) const {
    const auto& classes = column<arrow::ListArray>("classes");
    if (classes.IsNull(row)) return std::nullopt;
    storage::PythonException raised;
    const std::shared_ptr<arrow::Array> names = classes.value_slice(row);
    for (std::int64_t i = 0; i < names->length(); ++i) {
      raised.classes.push_back(static_cast<const arrow::StringArray&>(*names).GetString(i));
    }
    raised.code = static_cast<int>(column<arrow::Int64Array>("size").Value(row));
    raised.words = column<arrow::StringArray>("name").GetString(row);
    return storage::error_of(raised);
  }

 private:
  template <class Array>
  const Array& column(const char* name) const {
    return static_cast<const Array&>(*rows_->GetColumnByName(name));
  }

  const arrow::RecordBatch* rows_;
};

using Take = std::function<void(const Answer&)>;

/// Asks function workers, each of which has the filesystem.
class Workers {
 public:
  Workers(std::weak_ptr<FunctionPools> pools, std::string pickled) : pools_(std::move(pools)) {
    spec_.name = "filesystem";
    spec_.calls.resize(1);
    spec_.calls.front().kind = "map_batches";
    spec_.calls.front().pickled = std::move(pickled);
    spec_.calls.front().batch_format = "pyarrow";
    spec_.input = question_schema();
  }

  Result<void> ask(const Question& question, const Take& take) const {
    std::optional<Error> error;
    const arrow::Status done = process(question, [&](const std::shared_ptr<arrow::RecordBatch>& rows) {
      const Answer answer(*rows);
      if (answer.rows() > 0) error = answer.error(0);
      if (!error) take(answer);
      return arrow::Status::OK();
    });
    if (!done.ok()) return Error{ErrorKind::refused, done.message()};
    if (error) return *error;
    return {};
  }

 private:
  arrow::Status process(const Question& question, const FunctionSink& sink) const {
    const std::shared_ptr<FunctionPools> pools = pools_.lock();
    if (!pools) return arrow::Status::Cancelled("the data process ends");
    ARROW_ASSIGN_OR_RAISE(const auto pool, pools->pool(spec_));
    ARROW_ASSIGN_OR_RAISE(const auto batch, batch_of(question));
    FunctionWork work;
    work.where = question.path;
    return pool->process(work, batch, sink);
  }

  const std::weak_ptr<FunctionPools> pools_;
  FunctionSpec spec_;
};

class PythonFile : public storage::RandomFile {
 public:
  PythonFile(std::shared_ptr<const Workers> workers, std::string path, std::uint64_t size)
      : workers_(std::move(workers)), path_(std::move(path)), size_(size) {}

  std::uint64_t size() const override { return size_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> buffer) override {
    std::size_t filled = 0;
    while (filled < buffer.size()) {
      const std::int64_t wanted = std::min(piece_bytes, static_cast<std::int64_t>(buffer.size() - filled));
      std::size_t got = 0;
      const auto asked =
          workers_->ask({"read", path_, static_cast<std::int64_t>(offset + filled), wanted}, [&](const Answer& answer) {
            if (answer.rows() == 0) return;
            const std::string_view bytes = answer.bytes(0);
            got = std::min(bytes.size(), static_cast<std::size_t>(wanted));
            std::memcpy(buffer.data() + filled, bytes.data(), got);
          });
      if (!asked) return asked.error();
      if (got == 0) break;
      filled += got;
    }
    return filled;
  }

 private:
  const std::shared_ptr<const Workers> workers_;
  const std::string path_;
  const std::uint64_t size_;
};

/// What reading asks of a filesystem; nobody writes to it.
class PythonFilesystem : public storage::Files {
 public:
  PythonFilesystem(std::weak_ptr<FunctionPools> pools, std::string pickled)
      : workers_(std::make_shared<const Workers>(std::move(pools), std::move(pickled))) {}

  Result<std::string> path_of(const std::string& location) override {
    std::string path(users_path(location));
    while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    return path;
  }
  std::string shown(const std::string& path) override { return path + " on a Python filesystem"; }

  Result<storage::Entry> info(const std::string& path) override {
    storage::Entry found;
    const auto asked = workers_->ask({"info", path}, [&](const Answer& answer) { found = answer.entry(0); });
    if (!asked) return asked.error();
    return found;
  }

  Result<std::vector<storage::Entry>> list(const std::string& path, bool recursive) override {
    std::vector<storage::Entry> found;
    const auto asked = workers_->ask({recursive ? "list_all" : "list", path}, [&](const Answer& answer) {
      for (std::int64_t row = 0; row < answer.rows(); ++row) found.push_back(answer.entry(row));
    });
    if (!asked) return asked.error();
    return found;
  }

  Result<std::unique_ptr<storage::RandomFile>> open_random(const std::string& path) override {
    std::uint64_t size = 0;
    const auto asked = workers_->ask({"open", path}, [&](const Answer& answer) { size = answer.entry(0).size; });
    if (!asked) return asked.error();
    return std::unique_ptr<storage::RandomFile>(std::make_unique<PythonFile>(workers_, path, size));
  }

  Result<std::unique_ptr<storage::Reader>> open_reader(const std::string&) override { return is_read_only(); }
  Result<std::unique_ptr<storage::Writer>> open_writer(const std::string&, std::uint64_t, std::size_t) override {
    return is_read_only();
  }
  Result<void> make_directory(const std::string&) override { return is_read_only(); }
  Result<void> remove_file(const std::string&) override { return is_read_only(); }
  Result<void> remove_tree(const std::string&) override { return is_read_only(); }

 private:
  static Error is_read_only() { return {ErrorKind::refused, "the data process only reads parts of its files"}; }

  const std::shared_ptr<const Workers> workers_;
};

}  // namespace

void register_python_filesystem(const std::shared_ptr<FunctionPools>& pools, const data::ReadNode& read,
                                const std::vector<std::string>& blobs) {
  if (!read.blob) return;
  const std::string& first = read.paths.front();
  const std::string scheme = first.substr(0, first.find("://"));
  if (storage::is_registered(scheme)) return;
  storage::register_files(scheme,
                          std::make_shared<PythonFilesystem>(pools, blobs[static_cast<std::size_t>(*read.blob)]));
}

}  // namespace headway::flow
