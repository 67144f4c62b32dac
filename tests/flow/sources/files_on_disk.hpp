#pragma once

#include "core/json_text.hpp"
#include "data/plan_nodes.hpp"
#include "flow/arrow_values.hpp"
#include "flow/source.hpp"

#include <boost/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

/// Files for sources to read, and what they made of them.
namespace headway::flow {

/// A directory that is gone with the test.
class FilesOnDisk {
 public:
  FilesOnDisk() {
    std::string pattern = (std::filesystem::temp_directory_path() / "headway-flow-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~FilesOnDisk() { std::filesystem::remove_all(root_); }
  FilesOnDisk(const FilesOnDisk&) = delete;
  FilesOnDisk& operator=(const FilesOnDisk&) = delete;

  const std::string& root() const { return root_; }
  std::string path(std::string_view name) const { return root_ + "/" + std::string(name); }

  /// Writes a file with the directories above it.
  std::string write(std::string_view name, std::string_view content) const {
    const std::string at = path(name);
    std::filesystem::create_directories(std::filesystem::path(at).parent_path());
    std::ofstream(at, std::ios::binary) << content;
    return at;
  }

 private:
  std::string root_;
};

inline data::ReadNode read_node(const std::string& format, std::vector<std::string> paths,
                                const std::string& options = "{}") {
  data::ReadNode node;
  node.format = format;
  node.paths = std::move(paths);
  node.options = parse_json(options, "options").value().get_object();
  return node;
}

inline std::unique_ptr<Source> opened(const data::ReadNode& node) {
  return must(open_source(node, arrow::default_memory_pool()));
}

/// All rows of a source in its order.
inline arrow::Result<std::shared_ptr<arrow::Table>> rows_of(const Source& source,
                                                            const std::vector<int>* columns = nullptr) {
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  std::shared_ptr<arrow::Schema> schema;
  for (const Unit& unit : source.units()) {
    ARROW_ASSIGN_OR_RAISE(const auto reader, source.read(unit, columns, arrow::default_memory_pool()));
    schema = reader->schema();
    ARROW_ASSIGN_OR_RAISE(const auto more, reader->ToRecordBatches());
    batches.insert(batches.end(), more.begin(), more.end());
  }
  return arrow::Table::FromRecordBatches(schema, batches);
}

/// All rows of a read, or what is wrong with it.
inline arrow::Result<std::shared_ptr<arrow::Table>> rows_of(const data::ReadNode& node) {
  ARROW_ASSIGN_OR_RAISE(const auto source, open_source(node, arrow::default_memory_pool()));
  return rows_of(*source);
}

/// A column as one array.
inline std::shared_ptr<arrow::Array> column_of(const arrow::Table& table, const std::string& name) {
  const auto column = table.GetColumnByName(name);
  if (column == nullptr) BOOST_FAIL("there is no column " + name);
  if (column->num_chunks() == 0) return must(arrow::MakeEmptyArray(column->type()));
  return must(arrow::Concatenate(column->chunks()));
}

inline void check_column(const arrow::Table& table, const std::string& name,
                         const std::shared_ptr<arrow::DataType>& type, const std::string& expected) {
  const auto found = column_of(table, name);
  const auto wanted = array_of_text(type, expected);
  BOOST_TEST(found->Equals(*wanted), name << " is " << found->type()->ToString() << ": " << found->ToString());
}

/// As one chunk, to be compared with another.
inline std::shared_ptr<arrow::Table> combined(const arrow::Result<std::shared_ptr<arrow::Table>>& table) {
  return must(must(table)->CombineChunks());
}

}  // namespace headway::flow
