#include "flow/sources/files_on_disk.hpp"

#include <arrow/adapters/orc/adapter.h>
#include <arrow/extension/fixed_shape_tensor.h>
#include <arrow/io/api.h>
#include <arrow/ipc/writer.h>

#include <boost/test/unit_test.hpp>

#include <parquet/arrow/writer.h>
#include <parquet/file_reader.h>
#include <parquet/page_index.h>

#include <algorithm>
#include <random>

namespace headway::flow {
namespace {

/// Rows of several types, with `id` from 0.
std::shared_ptr<arrow::Table> numbered_rows(std::int64_t rows) {
  arrow::Int64Builder ids;
  arrow::StringBuilder names;
  arrow::ListBuilder lists(arrow::default_memory_pool(), std::make_shared<arrow::FloatBuilder>());
  auto& values = static_cast<arrow::FloatBuilder&>(*lists.value_builder());
  for (std::int64_t i = 0; i < rows; ++i) {
    must(ids.Append(i));
    must(i % 7 == 0 ? names.AppendNull() : names.Append("row " + std::to_string(i)));
    must(lists.Append());
    for (std::int64_t k = 0; k < i % 3; ++k) must(values.Append(static_cast<float>(k)));
  }
  const auto schema = arrow::schema({arrow::field("id", arrow::int64()), arrow::field("name", arrow::utf8()),
                                     arrow::field("list", arrow::list(arrow::float32()))});
  return arrow::Table::Make(schema, {must(ids.Finish()), must(names.Finish()), must(lists.Finish())});
}

void write_parquet(const std::string& path, const arrow::Table& table, std::int64_t group_rows) {
  const auto out = must(arrow::io::FileOutputStream::Open(path));
  const auto properties = parquet::WriterProperties::Builder().max_row_group_length(group_rows)->build();
  must(parquet::arrow::WriteTable(table, arrow::default_memory_pool(), out, group_rows, properties));
}

void write_arrow(const std::string& path, const arrow::Table& table, std::int64_t batch_rows, bool stream) {
  const auto out = must(arrow::io::FileOutputStream::Open(path));
  const auto writer = must(stream ? arrow::ipc::MakeStreamWriter(out, table.schema())
                                  : arrow::ipc::MakeFileWriter(out, table.schema()));
  must(writer->WriteTable(table, batch_rows));
  must(writer->Close());
}

std::string npy(const std::string& dtype, const std::string& shape, const std::string& data,
                const std::string& order = "False") {
  std::string header = "{'descr': '" + dtype + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + data;
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(files_of_parquet)

BOOST_AUTO_TEST_CASE(have_a_unit_for_each_row_group) {
  const FilesOnDisk disk;
  const auto rows = numbered_rows(1000);
  write_parquet(disk.path("a.parquet"), *rows, 300);
  const auto node = read_node("parquet", {disk.root()});
  const auto source = opened(node);
  // Small row groups share a unit, as small files do.
  BOOST_TEST(source->units().size() == 1U);
  BOOST_TEST(source->units()[0].rows == 1000);
  BOOST_TEST(combined(rows_of(*source))->Equals(*must(rows->CombineChunks())));
  const std::vector<int> two = {2, 0};
  const auto chosen = must(rows_of(*source, &two));
  BOOST_TEST(chosen->schema()->field(0)->name() == "list");
  BOOST_TEST(column_of(*chosen, "id")->Equals(*column_of(*rows, "id")));
  const auto counted = std::vector<int>{};
  BOOST_TEST(must(rows_of(*source, &counted))->num_columns() == 0);
}

BOOST_AUTO_TEST_CASE(with_large_row_groups_are_decoded_in_parts) {
  const FilesOnDisk disk;
  const std::int64_t rows = 9 << 20;
  const auto zeros = must(arrow::MakeArrayFromScalar(arrow::Int64Scalar(5), rows));
  const auto table = arrow::Table::Make(arrow::schema({arrow::field("x", arrow::int64())}), {zeros});
  write_parquet(disk.path("a.parquet"), *table, rows);
  const auto source = opened(read_node("parquet", {disk.path("a.parquet")}));
  BOOST_TEST(source->units().size() == 1U);
  const auto reader = must(source->read(source->units()[0], nullptr, arrow::default_memory_pool()));
  const auto batch = must(reader->Next());
  BOOST_TEST(batch->num_rows() < rows / 10);
  BOOST_TEST(must(rows_of(*source))->num_rows() == rows);
}

/// Where a page ends, Arrow takes the end of the file for that of the column.
BOOST_AUTO_TEST_CASE(that_become_shorter_while_they_are_read_are_errors) {
  const FilesOnDisk disk;
  const std::string path = disk.path("a.parquet");
  std::vector<std::int64_t> values(3 << 20);
  std::mt19937_64 random;
  std::ranges::generate(values, random);
  arrow::Int64Builder column;
  must(column.AppendValues(values));
  const auto table = arrow::Table::Make(arrow::schema({arrow::field("x", arrow::int64())}), {must(column.Finish())});
  auto properties = parquet::WriterProperties::Builder();
  properties.compression(arrow::Compression::SNAPPY)
      ->disable_dictionary()
      ->enable_write_page_index()
      ->max_row_group_length(table->num_rows());
  must(parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), must(arrow::io::FileOutputStream::Open(path)),
                                  table->num_rows(), properties.build()));
  const auto file = parquet::ParquetFileReader::OpenFile(path);
  const auto pages = file->GetPageIndexReader()->RowGroup(0)->GetOffsetIndex(0)->page_locations();
  const auto source = opened(read_node("parquet", {path}));
  const auto reader = must(source->read(source->units()[0], nullptr, arrow::default_memory_pool()));
  BOOST_TEST(must(reader->Next())->num_rows() > 0);
  std::filesystem::resize_file(path, static_cast<std::uintmax_t>(pages.at(pages.size() / 2).offset));
  const auto read = reader->ToRecordBatches();
  BOOST_TEST(read.status().message().find("it has become shorter while it was read") != std::string::npos,
             read.status().ToString());
}

BOOST_AUTO_TEST_CASE(with_other_columns_or_types_than_the_first_are_named) {
  const FilesOnDisk disk;
  const auto rows = numbered_rows(10);
  write_parquet(disk.path("1.parquet"), *rows, 10);
  write_parquet(disk.path("2.parquet"), *must(rows->RemoveColumn(1)), 10);
  BOOST_TEST(contains(error_of(rows_of(read_node("parquet", {disk.root()}))), "2.parquet: the column name is missing"));
  const auto without = must(rows_of(read_node("parquet", {disk.root()}, R"({"columns": ["id"]})")));
  BOOST_TEST(without->num_rows() == 20);
  const auto more = must(rows->AddColumn(0, arrow::field("extra", arrow::int64()), rows->column(0)));
  write_parquet(disk.path("2.parquet"), *more, 10);
  BOOST_TEST(contains(error_of(rows_of(read_node("parquet", {disk.root()}))),
                      "2.parquet: it has the additional column extra"));
  const auto text =
      arrow::ChunkedArray::Make({array_of_text(arrow::utf8(), R"(["1","2","3","x","5","6","7","8","9","10"])")});
  const auto other = must(rows->SetColumn(0, arrow::field("id", arrow::utf8()), must(text)));
  write_parquet(disk.path("2.parquet"), *other, 10);
  const std::string words = error_of(rows_of(read_node("parquet", {disk.root()})));
  BOOST_TEST(contains(words, "2.parquet: column id has type string, and int64 in the data set's schema; row 3"), words);
  disk.write("3.parquet", "no parquet");
  BOOST_TEST(contains(error_of(rows_of(read_node("parquet", {disk.path("3.parquet")}))), "3.parquet: "));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(files_of_arrow_ipc)

BOOST_AUTO_TEST_CASE(are_cut_within_large_batches) {
  const FilesOnDisk disk;
  const auto rows = numbered_rows(5000);
  write_arrow(disk.path("a.arrow"), *rows, 2000, false);
  const auto source = opened(read_node("arrow", {disk.path("a.arrow")}, R"({"unit_bytes": 10000})"));
  std::int64_t counted = 0;
  for (const Unit& unit : source->units()) counted += unit.rows;
  BOOST_TEST(counted == 5000);
  BOOST_TEST(contains(source->units()[1].where, "a.arrow, rows "), source->units()[1].where);
  BOOST_TEST(combined(rows_of(*source))->Equals(*must(rows->CombineChunks())));
  const std::vector<int> two = {1, 0};
  BOOST_TEST(column_of(*must(rows_of(*source, &two)), "name")->Equals(*column_of(*rows, "name")));
}

BOOST_AUTO_TEST_CASE(may_be_streams) {
  const FilesOnDisk disk;
  const auto rows = numbered_rows(100);
  write_arrow(disk.path("a.arrows"), *rows, 30, true);
  BOOST_TEST(combined(rows_of(read_node("arrow", {disk.root()})))->Equals(*rows));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(files_of_orc_have_a_unit_for_each_stripe) {
  const FilesOnDisk disk;
  const auto rows = numbered_rows(3000);
  const auto out = must(arrow::io::FileOutputStream::Open(disk.path("a.orc")));
  const auto writer = must(arrow::adapters::orc::ORCFileWriter::Open(out.get()));
  must(writer->Write(*rows));
  must(writer->Close());
  must(out->Close());
  const auto read = must(rows_of(read_node("orc", {disk.root()})));
  BOOST_TEST(column_of(*read, "id")->Equals(*column_of(*rows, "id")));
  BOOST_TEST(column_of(*read, "name")->Equals(*column_of(*rows, "name")));
  const auto one = must(rows_of(read_node("orc", {disk.root()}, R"({"columns": ["name"]})")));
  BOOST_TEST(one->num_columns() == 1);
}

BOOST_AUTO_TEST_SUITE(files_of_numpy)

BOOST_AUTO_TEST_CASE(have_a_row_for_each_index_of_the_first_dimension) {
  const FilesOnDisk disk;
  disk.write("d/1.npy", npy("<f4", "(2, 2, 1)", bytes_of<float>({1, 2, 3, 4})));
  disk.write("d/2.npy", npy("<f4", "(1, 2, 1)", bytes_of<float>({5, 6})));
  const auto table = must(rows_of(read_node("numpy", {disk.path("d")})));
  const auto tensor = arrow::extension::fixed_shape_tensor(arrow::float32(), {2, 1});
  BOOST_TEST(table->schema()->field(0)->type()->Equals(*tensor));
  const auto storage = std::static_pointer_cast<arrow::ExtensionArray>(column_of(*table, "data"))->storage();
  BOOST_TEST(storage->Equals(*array_of_text(arrow::fixed_size_list(arrow::float32(), 2), "[[1, 2], [3, 4], [5, 6]]")));
  const auto flat =
      must(rows_of(read_node("numpy", {disk.write("3.npy", npy("<i8", "(3,)", bytes_of<std::int64_t>({7, 8, 9})))})));
  check_column(*flat, "data", arrow::int64(), "[7, 8, 9]");
  const auto truth =
      must(rows_of(read_node("numpy", {disk.write("4.npy", npy("|b1", "(3,)", std::string("\1\0\1", 3)))})));
  check_column(*truth, "data", arrow::boolean(), "[true, false, true]");
}

BOOST_AUTO_TEST_CASE(are_cut_when_they_are_large) {
  const FilesOnDisk disk;
  std::vector<std::int32_t> values(5000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i);
  const std::string path = disk.write("a.npy", npy("<i4", "(2500, 2)", bytes_of(values)));
  const auto source = opened(read_node("numpy", {path}, R"({"unit_bytes": 4000})"));
  const auto table = must(rows_of(*source));
  BOOST_TEST(table->num_rows() == 2500);
  const auto storage = std::static_pointer_cast<arrow::ExtensionArray>(column_of(*table, "data"))->storage();
  const auto& lists = static_cast<const arrow::FixedSizeListArray&>(*storage);
  BOOST_TEST(static_cast<const arrow::Int32Array&>(*lists.values()).Value(4999) == 4999);
}

BOOST_AUTO_TEST_CASE(arrays_of_columns_are_read_row_by_row) {
  const FilesOnDisk disk;
  const std::string values("\x01\x02\x03\x04\x05\x06", 6);  // Rows are 1 3 5 and 2 4 6.
  const auto table = must(rows_of(read_node("numpy", {disk.write("x.npy", npy("|u1", "(2, 3)", values, "True"))})));
  const auto storage = std::static_pointer_cast<arrow::ExtensionArray>(column_of(*table, "data"))->storage();
  const auto& lists = static_cast<const arrow::FixedSizeListArray&>(*storage);
  const auto& bytes = static_cast<const arrow::UInt8Array&>(*lists.values());
  std::string rows;
  for (std::int64_t i = 0; i < bytes.length(); ++i) rows += std::to_string(bytes.Value(i));
  BOOST_TEST(rows == "135246");
}

BOOST_AUTO_TEST_CASE(that_arrow_has_no_values_for_are_refused) {
  const FilesOnDisk disk;
  const auto words = [&](const std::string& file) {
    return error_of(rows_of(read_node("numpy", {disk.write("x.npy", file)})));
  };
  BOOST_TEST(
      contains(words(npy("|O", "(1,)", "x")), "x.npy: values of dtype |O cannot be read: they are pickled objects"));
  BOOST_TEST(contains(words("text"), "it is no .npy file"));
  BOOST_TEST(contains(words(npy("<f4", "(9,)", "1234")), "its header says 9 rows of 4 bytes"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
