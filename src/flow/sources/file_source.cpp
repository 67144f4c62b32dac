#include "core/counted.hpp"
#include "core/json.hpp"
#include "core/location.hpp"
#include "core/text.hpp"
#include "data/plan_identity.hpp"
#include "flow/rows_of_reader.hpp"
#include "flow/sources/file_format.hpp"
#include "flow/sources/read_options.hpp"
#include "flow/sources/unit_reader.hpp"
#include "storage/disk/parallel.hpp"

#include <arrow/compute/initialize.h>
#include <arrow/type.h>

#include <algorithm>
#include <numeric>

namespace headway::flow {
namespace {

std::int64_t bytes_in(const std::vector<Unit>& units) {
  std::int64_t bytes = 0;
  for (const Unit& unit : units) bytes += unit.bytes;
  return bytes;
}

/// A unit's `begin` and `end` are places in the source's list of pieces. It has the rows of these
/// pieces; a finer unit may have some of them.
class FileSource : public Source {
 public:
  FileSource(std::shared_ptr<const OpenedFiles> opened, std::vector<Piece> pieces, std::int64_t packed_bytes)
      : opened_(std::move(opened)), pieces_(std::move(pieces)) {
    count_rows();
    pack(packed_bytes);
  }

  FileSource(const FileSource& whole, const FinerUnits& wanted) : opened_(whole.opened_), pieces_(whole.pieces_) {
    for (const Unit& unit : whole.units_) cut(unit, wanted, bytes_in(whole.units_) / wanted.units);
  }

  std::shared_ptr<arrow::Schema> schema() const override { return opened_->schema; }
  const std::vector<Unit>& units() const override { return units_; }

  std::vector<std::string> files() const override {
    std::vector<std::string> locations;
    for (const SourceFile& file : opened_->found.files) locations.emplace_back(users_path(file.location));
    return locations;
  }

  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> read(const Unit& unit, const std::vector<int>* columns,
                                                                arrow::MemoryPool* pool) const override {
    std::vector<int> all(static_cast<std::size_t>(opened_->schema->num_fields()));
    std::iota(all.begin(), all.end(), 0);
    const std::span<const Piece> pieces = std::span<const Piece>(pieces_).subspan(
        static_cast<std::size_t>(unit.begin), static_cast<std::size_t>(unit.end - unit.begin));
    auto rows = read_unit(opened_, pieces, columns == nullptr ? all : *columns, pool);
    if (!is_cut(unit)) return rows;
    return std::make_shared<RowsOfReader>(std::move(rows), unit.skipped, unit.rows);
  }

  std::shared_ptr<const Source> in_finer_units(const FinerUnits& wanted) const override {
    return std::make_shared<FileSource>(*this, wanted);
  }

  bool has_row_buffers() const override { return opened_->format->has_row_buffers(); }

  /// Where units are of files whose rows are not known before, the unit alone is sure.
  std::string place_of(const Unit& unit, std::int64_t row) const override {
    row += unit.skipped;
    for (std::int64_t i = unit.begin; i < unit.end; ++i) {
      const Piece& piece = pieces_[static_cast<std::size_t>(i)];
      const bool is_last = i + 1 == unit.end;
      if (piece.first_row < 0 || (piece.rows < 0 && !is_last)) return unit.where;
      if (piece.rows < 0 || row < piece.rows) {
        return shown(file(piece)) + ", row " + std::to_string(piece.first_row + row);
      }
      row -= piece.rows;
    }
    return unit.where;
  }

 private:
  const SourceFile& file(const Piece& piece) const { return opened_->found.files[piece.file]; }

  void pack(std::int64_t packed_bytes) {
    std::size_t begin = 0;
    while (begin < pieces_.size()) {
      std::size_t end = begin;
      std::int64_t bytes = 0;
      while (end < pieces_.size()) {
        const Piece& piece = pieces_[end];
        const std::int64_t next = piece.packed_bytes < 0 ? piece.bytes : piece.packed_bytes;
        if (end > begin && (bytes >= packed_bytes || next >= packed_bytes || end - begin >= packed_files_max)) break;
        bytes += next;
        ++end;
      }
      units_.push_back(unit_of(begin, end));
      begin = end;
    }
  }

  /// Where pieces end, or up to a batch before.
  void cut(const Unit& whole, const FinerUnits& wanted, std::int64_t bytes_min) {
    const bool by_rows = wanted.rows_min >= 0;
    const std::int64_t least = std::max<std::int64_t>(by_rows ? wanted.rows_min : bytes_min, 1);
    const auto last = static_cast<std::size_t>(whole.end) - 1;
    auto begin = static_cast<std::size_t>(whole.begin);
    std::int64_t skipped = 0;  // Of the piece `begin`.
    std::int64_t size = 0;     // From there on.
    for (std::size_t i = begin; i <= last; ++i) {
      const std::int64_t more = by_rows ? pieces_[i].rows : pieces_[i].bytes;
      size += more;
      const std::int64_t rest = by_rows && i < last ? (size - skipped) % wanted.batch_rows : 0;
      if (i < last && size - skipped - rest < least) continue;
      units_.push_back(unit_of(begin, i + 1));
      if (by_rows) set_rows(units_.back(), skipped, size - skipped - rest);
      begin = rest > 0 ? i : i + 1;
      skipped = rest > 0 ? more - rest : 0;
      size = rest > 0 ? more : 0;
    }
  }

  /// Some of the rows of its pieces, after `skipped` ones.
  void set_rows(Unit& unit, std::int64_t skipped, std::int64_t rows) const {
    if (skipped == 0 && rows == unit.rows) return;
    unit.bytes = unit.bytes / unit.rows * rows;
    unit.skipped = skipped;
    unit.rows = rows;
    unit.where = where(unit);
  }

  bool is_cut(const Unit& unit) const { return unit.skipped > 0 || unit.rows < rows_of(unit); }

  /// Of all its pieces; -1: unknown.
  std::int64_t rows_of(const Unit& unit) const {
    std::int64_t rows = 0;
    for (std::int64_t i = unit.begin; i < unit.end; ++i) {
      const std::int64_t more = pieces_[static_cast<std::size_t>(i)].rows;
      rows = rows < 0 || more < 0 ? -1 : rows + more;
    }
    return rows;
  }

  Unit unit_of(std::size_t begin, std::size_t end) const {
    Unit unit;
    unit.file = pieces_[begin].file;
    unit.begin = static_cast<std::int64_t>(begin);
    unit.end = static_cast<std::int64_t>(end);
    for (std::size_t i = begin; i < end; ++i) unit.bytes += pieces_[i].bytes;
    unit.rows = rows_of(unit);
    unit.where = where(unit);
    return unit;
  }

  /// The file, and which rows or else bytes of it.
  std::string where(const Unit& unit) const {
    const auto begin = static_cast<std::size_t>(unit.begin);
    const auto end = static_cast<std::size_t>(unit.end);
    const Piece& first = pieces_[begin];
    const Piece& last = pieces_[end - 1];
    std::string words = shown(file(first));
    if (last.file != first.file) {
      const std::int64_t row = first.first_row + unit.skipped;
      if (row > 0) words += " from row " + std::to_string(row) + " on";
      return words + " and " + counted(last.file - first.file, "more file");
    }
    const bool from_begin = begin == 0 || pieces_[begin - 1].file != first.file;
    const bool to_end = end == pieces_.size() || pieces_[end].file != first.file;
    if (from_begin && to_end && !is_cut(unit)) return words;
    if (first.first_row < 0 || last.first_row < 0 || last.rows < 0) {
      return words + ", bytes " + std::to_string(first.begin) + " to " + std::to_string(last.end - 1);
    }
    const std::int64_t row = first.first_row + unit.skipped;
    return words + ", rows " + std::to_string(row) + " to " + std::to_string(row + unit.rows - 1);
  }

  void count_rows() {
    std::int64_t row = 0;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (i == 0 || pieces_[i - 1].file != pieces_[i].file) row = 0;
      pieces_[i].first_row = row;
      row = row < 0 || pieces_[i].rows < 0 ? -1 : row + pieces_[i].rows;
    }
  }

  std::shared_ptr<const OpenedFiles> opened_;
  std::vector<Piece> pieces_;
  std::vector<Unit> units_;
};

/// The same for the same files, whatever columns are read.
std::string name_of_source(const data::ReadNode& read, const std::vector<SourceFile>& files) {
  data::ReadNode all = read;
  all.options.erase("columns");
  std::string text = to_json_text(all);
  for (const SourceFile& file : files) text += '\n' + file.location + ' ' + std::to_string(file.bytes);
  return data::digest_of(text);
}

/// Columns that are made of a file's path are text.
arrow::Status check_path(const SourceFile& file, bool has_path) {
  const bool is_text = std::ranges::all_of(
      file.partition_values, [](const std::optional<std::string>& value) { return !value || is_utf8(*value); });
  if (is_text && (!has_path || is_utf8(users_path(file.location)))) return arrow::Status::OK();
  return arrow::Status::Invalid(
      shown_location(users_path(file.location)), ": the path is no text (UTF-8), and would be a value of ",
      is_text ? "the column path (include_paths=True)" : "a partition's column", "; rename the file");
}

/// [format | partitions | path], of which the columns that are asked for stay, in the asked order.
arrow::Status set_schema(const data::ReadNode& read, OpenedFiles& opened) {
  const OptionView options(read.options, read.format);
  ARROW_ASSIGN_OR_RAISE(const bool paths, options.flag("include_paths", false));
  ARROW_ASSIGN_OR_RAISE(const auto columns, options.texts("columns"));
  arrow::FieldVector all = opened.format_schema->fields();
  const arrow::FieldVector& partitions = opened.found.partition_fields;
  all.insert(all.end(), partitions.begin(), partitions.end());
  for (const SourceFile& file : opened.found.files) ARROW_RETURN_NOT_OK(check_path(file, paths));
  if (paths) all.push_back(arrow::field("path", arrow::utf8()));
  const arrow::Schema whole(all);
  for (const auto& field : all) {
    if (!is_utf8(field->name())) {
      return arrow::Status::Invalid(shown_location(users_path(opened.found.files.front().location)),
                                    ": the name of a column is no text (UTF-8): ", to_utf8(field->name()));
    }
    if (whole.GetAllFieldIndices(field->name()).size() < 2) continue;
    return arrow::Status::Invalid("there are several columns ", field->name(),
                                  " (of the files, of partitions and path together)");
  }
  if (!columns) {
    opened.schema = arrow::schema(all);
    opened.places.resize(all.size());
    std::iota(opened.places.begin(), opened.places.end(), 0);
    return arrow::Status::OK();
  }
  arrow::FieldVector chosen;
  for (const std::string& name : *columns) {
    const int place = whole.GetFieldIndex(name);
    if (place < 0) {
      std::string names;
      for (const auto& field : all) names += (names.empty() ? "" : ", ") + field->name();
      return arrow::Status::Invalid("there is no column ", name, "; the columns are ", names);
    }
    chosen.push_back(all[static_cast<std::size_t>(place)]);
    opened.places.push_back(place);
  }
  opened.schema = arrow::schema(std::move(chosen));
  return arrow::Status::OK();
}

constexpr std::size_t splitting_threads_max = 16;

/// Splitting may read a file's head or foot, so several files are split at once.
arrow::Result<std::vector<Piece>> split_all(const OpenedFiles& opened, bool may_fail) {
  const std::vector<SourceFile>& files = opened.found.files;
  std::vector<std::vector<Piece>> parts(files.size());
  std::vector<arrow::Status> failures(files.size());
  const auto split_one = [&](std::size_t index) -> Result<void> {
    auto split = opened.format->split(index, files[index]);
    if (split.ok()) {
      parts[index] = std::move(*split);
      return {};
    }
    failures[index] =
        split.status().WithMessage(shown_location(users_path(files[index].location)), ": ", split.status().message());
    if (may_fail) {
      parts[index] = {{.file = index, .bytes = files[index].bytes, .failure = failures[index].message()}};
      return {};
    }
    return Error{ErrorKind::invalid_argument, failures[index].message()};
  };
  if (const auto done = storage::parallel_for(files.size(), splitting_threads_max, split_one); !done) {
    for (const arrow::Status& failure : failures) ARROW_RETURN_NOT_OK(failure);
  }
  std::vector<Piece> pieces;
  for (const std::vector<Piece>& part : parts) pieces.insert(pieces.end(), part.begin(), part.end());
  return pieces;
}

/// The schema comes from the first file that has one.
arrow::Result<std::shared_ptr<arrow::Schema>> open_format(FileFormat& format, const std::vector<SourceFile>& files,
                                                          arrow::MemoryPool* pool, std::int64_t errored_max) {
  auto schema = format.open(files, pool);
  const auto tries = errored_max < 0 ? files.size() : std::min(files.size(), static_cast<std::size_t>(errored_max) + 1);
  for (std::size_t skipped = 1; !schema.ok() && skipped < tries; ++skipped) {
    const std::vector<SourceFile> rest(files.begin() + static_cast<std::ptrdiff_t>(skipped), files.end());
    auto next = format.open(rest, pool);
    if (next.ok()) return next;
  }
  return schema;
}

/// Finds the files and fixes the columns that their format has.
arrow::Result<std::shared_ptr<OpenedFiles>> open_files(const data::ReadNode& read, std::unique_ptr<FileFormat> format,
                                                       arrow::MemoryPool* pool, std::int64_t errored_max,
                                                       std::shared_ptr<SeenRows> wider) {
  static const arrow::Status kernels = arrow::compute::Initialize();
  ARROW_RETURN_NOT_OK(kernels);
  auto opened = std::make_shared<OpenedFiles>();
  ARROW_ASSIGN_OR_RAISE(opened->found, find_files(read));
  const std::vector<SourceFile>& files = opened->found.files;
  opened->format = std::move(format);
  ARROW_ASSIGN_OR_RAISE(opened->format_schema, open_format(*opened->format, files, pool, errored_max));
  if (wider != nullptr && opened->format->has_samples()) {
    opened->wider = std::move(wider);
    opened->source = name_of_source(read, files);
    const auto known = opened->wider->types(opened->source);
    if (known != nullptr) opened->format_schema = opened->format->widen(*known);
  }
  return opened;
}

}  // namespace

std::shared_ptr<arrow::Schema> FileFormat::widen(const arrow::Schema&) { return nullptr; }

arrow::Result<std::vector<Piece>> FileFormat::split(std::size_t index, const SourceFile& file) const {
  return std::vector<Piece>{{.file = index, .begin = 0, .end = file.bytes, .rows = -1, .bytes = file.bytes}};
}

std::vector<Piece> byte_ranges(std::size_t index, std::int64_t begin, std::int64_t end, std::int64_t unit_bytes) {
  std::vector<Piece> pieces;
  while (begin < end) {
    const std::int64_t rest = end - begin;
    const std::int64_t bytes = rest < unit_bytes + unit_bytes / 2 ? rest : unit_bytes;
    pieces.push_back({.file = index, .begin = begin, .end = begin + bytes, .rows = -1, .bytes = bytes});
    begin += bytes;
  }
  return pieces;
}

arrow::Result<std::int64_t> unit_bytes_of(const data::ReadNode& read) {
  const OptionView options(read.options, read.format);
  ARROW_ASSIGN_OR_RAISE(const std::int64_t bytes, options.integer("unit_bytes", unit_bytes_default));
  if (bytes < 1 || bytes > (std::int64_t{1} << 30)) return options.misfit("unit_bytes", "from 1 to 2^30");
  return bytes;
}

arrow::Result<std::unique_ptr<Source>> open_file_source(const data::ReadNode& read, std::unique_ptr<FileFormat> format,
                                                        arrow::MemoryPool* pool, std::int64_t errored_max,
                                                        std::shared_ptr<SeenRows> wider) {
  ARROW_ASSIGN_OR_RAISE(auto opened, open_files(read, std::move(format), pool, errored_max, std::move(wider)));
  ARROW_RETURN_NOT_OK(set_schema(read, *opened));
  ARROW_ASSIGN_OR_RAISE(std::vector<Piece> pieces, split_all(*opened, errored_max != 0));
  ARROW_ASSIGN_OR_RAISE(const std::int64_t unit_bytes, unit_bytes_of(read));
  const std::int64_t packed_bytes = errored_max == 0 ? std::min(packed_bytes_min, unit_bytes) : 0;
  return std::make_unique<FileSource>(std::move(opened), std::move(pieces), packed_bytes);
}

arrow::Result<std::shared_ptr<arrow::Schema>> schema_of_file_source(const data::ReadNode& read,
                                                                    std::unique_ptr<FileFormat> format,
                                                                    arrow::MemoryPool* pool, std::int64_t errored_max,
                                                                    std::shared_ptr<SeenRows> wider) {
  const auto opened = open_files(read, std::move(format), pool, errored_max, std::move(wider));
  if (!opened.ok()) return nullptr;
  ARROW_RETURN_NOT_OK(set_schema(read, **opened));
  return (*opened)->schema;
}

}  // namespace headway::flow
