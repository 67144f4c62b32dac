#include "flow/writers/writer.hpp"

#include "flow/sources/files_on_disk.hpp"
#include "storage/faulty_files.hpp"

#include <arrow/extension/fixed_shape_tensor.h>

#include <boost/test/unit_test.hpp>

namespace headway::flow {
namespace {

data::WriteNode write_node(const std::string& format, const std::string& path, const std::string& options = "{}",
                           data::WriteMode mode = data::WriteMode::append) {
  data::WriteNode node;
  node.format = format;
  node.path = path;
  node.mode = mode;
  node.options = parse_json(options, "options").value().get_object();
  return node;
}

arrow::Result<std::vector<std::string>> written(const data::WriteNode& node,
                                                const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches) {
  ARROW_ASSIGN_OR_RAISE(const auto writer, open_writer(node, batches.front()->schema(), arrow::default_memory_pool()));
  if (writer == nullptr) return std::vector<std::string>();
  for (const auto& batch : batches) ARROW_RETURN_NOT_OK(writer->write(batch));
  return writer->finish();
}

std::shared_ptr<arrow::RecordBatch> some_rows() {
  return batch_of({{"n", array_of_text(arrow::int64(), "[1, 2, null, 4]")},
                   {"x", array_of_text(arrow::float32(), "[0.5, null, 2, 3]")},
                   {"s", array_of_text(arrow::utf8(), R"(["a", "b\n\"c\"", "", null])")}});
}

/// All that lies in a folder, hidden or not.
std::size_t entries_in(const std::string& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& each : std::filesystem::recursive_directory_iterator(folder)) ++count;
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(written_rows)

BOOST_AUTO_TEST_CASE(are_read_again_in_every_format_of_tables) {
  const FilesOnDisk disk;
  const auto rows = some_rows();
  for (const char* format : {"parquet", "csv", "json", "orc", "tfrecord"}) {
    const std::string folder = disk.path(format);
    const auto files = must(written(write_node(format, folder), {rows, rows}));
    BOOST_TEST(files.size() == 1U);
    const auto read = must(rows_of(read_node(format, {folder})));
    BOOST_TEST(read->num_rows() == 8, format);
    BOOST_TEST(column_of(*read, "n")->Slice(4)->Equals(*rows->column(0)), format);
  }
  const auto parquet = must(rows_of(read_node("parquet", {disk.path("parquet")})));
  BOOST_TEST(column_of(*parquet, "s")->Slice(4)->Equals(*rows->column(2)));
  BOOST_TEST(column_of(*parquet, "x")->Slice(4)->Equals(*rows->column(1)));
  const auto json = must(rows_of(read_node("json", {disk.path("json")})));
  BOOST_TEST(column_of(*json, "s")->Slice(4)->Equals(*rows->column(2)));
}

BOOST_AUTO_TEST_CASE(keep_nested_values_tensors_and_times_as_json) {
  const FilesOnDisk disk;
  const auto tensor =
      arrow::ExtensionType::WrapArray(arrow::extension::fixed_shape_tensor(arrow::int8(), {2, 1}),
                                      array_of_text(arrow::fixed_size_list(arrow::int8(), 2), "[[1, 2], [3, 4]]"));
  const auto rows = batch_of({{"list", array_of_text(arrow::list(arrow::int8()), "[[1, null], null]")},
                              {"place", array_of_text(arrow::struct_({arrow::field("city", arrow::utf8())}),
                                                      "[{\"city\": \"R\\u00f3m\\t\"}, null]")},
                              {"t", tensor},
                              {"b", array_of_text(arrow::binary(), R"(["hi", null])")},
                              {"day", array_of_text(arrow::date32(), "[20779, null]")},
                              {"x", array_of_text(arrow::float64(), "[1e300, 0.1]")},
                              {"yes", array_of_text(arrow::boolean(), "[true, false]")}});
  const auto files = must(written(write_node("json", disk.path("out")), {rows}));
  BOOST_TEST(
      storage::read(files[0]) ==
      "{\"list\":[1,null],\"place\":{\"city\":\"R\xc3\xb3m\\t\"},\"t\":[[1],[2]],\"b\":\"aGk=\",\"day\":\"2026-11-22\","
      "\"x\":1e+300,\"yes\":true}\n"
      "{\"list\":null,\"place\":null,\"t\":[[3],[4]],\"b\":null,\"day\":null,\"x\":0.1,\"yes\":false}\n");
}

BOOST_AUTO_TEST_CASE(of_one_column_make_numpy_files) {
  const FilesOnDisk disk;
  const auto lists = array_of_text(arrow::fixed_size_list(arrow::float32(), 2), "[[1, 2], [3, 4], [5, 6]]");
  const auto tensor =
      arrow::ExtensionType::WrapArray(arrow::extension::fixed_shape_tensor(arrow::float32(), {2}), lists);
  const auto rows = batch_of({{"data", tensor}});
  must(written(write_node("numpy", disk.path("out"), R"({"max_rows_per_file": 2})"), {rows->Slice(1), rows}));
  const auto read = must(rows_of(read_node("numpy", {disk.path("out")})));
  const auto storage = std::static_pointer_cast<arrow::ExtensionArray>(column_of(*read, "data"))->storage();
  BOOST_TEST(storage->Equals(*array_of_text(lists->type(), "[[3, 4], [5, 6], [1, 2], [3, 4], [5, 6]]")),
             storage->ToString());
  BOOST_TEST(
      contains(error_of(written(write_node("numpy", disk.path("o")), {some_rows()})), "there is no column data"));
  BOOST_TEST(contains(error_of(written(write_node("numpy", disk.path("o"), R"({"column": "s"})"), {some_rows()})),
                      "column s: values of type string have no dtype of numpy"));
  BOOST_TEST(contains(error_of(written(write_node("numpy", disk.path("o"), R"({"column": "n"})"), {some_rows()})),
                      "the column n has nulls"));
}

BOOST_AUTO_TEST_CASE(of_bytes_are_files_of_these_bytes) {
  const FilesOnDisk disk;
  const std::string options = R"({"column": "b", "extension": "png", "max_rows_per_file": 1})";
  const auto rows = batch_of({{"b", array_of_text(arrow::binary(), R"(["one", "", "two"])")}});
  const auto files = must(written(write_node("bytes", disk.path("out"), options), {rows}));
  BOOST_TEST(files.size() == 3U);
  BOOST_TEST(files[2].ends_with(".png"), files[2]);
  const auto read = must(rows_of(read_node("binary", {disk.path("out")})));
  BOOST_TEST(column_of(*read, "bytes")->ToString() == rows->column(0)->ToString());
  const auto null = batch_of({{"b", array_of_text(arrow::binary(), "[null]")}});
  BOOST_TEST(contains(error_of(written(write_node("bytes", disk.path("o"), options), {null})), "column b has a null"));
  const auto text = batch_of({{"b", array_of_text(arrow::utf8(), R"(["a"])")}});
  BOOST_TEST(contains(error_of(written(write_node("bytes", disk.path("o"), options), {text})), "column b is string"));
}

BOOST_AUTO_TEST_CASE(go_to_folders_by_the_values_of_partition_columns) {
  const FilesOnDisk disk;
  const auto rows = batch_of({{"n", array_of_text(arrow::int64(), "[1, 2, 3, 4, 5]")},
                              {"city", array_of_text(arrow::utf8(), R"(["Rome", "a/b=c", "Rome", null, "a/b=c"])")},
                              {"year", array_of_text(arrow::int32(), "[1, 1, 1, 2, 1]")}});
  const auto files =
      must(written(write_node("parquet", disk.path("out"), R"({"partition_cols": ["year", "city"]})"), {rows, rows}));
  BOOST_TEST(files.size() == 3U);
  BOOST_TEST(contains(files[0], "/year=1/city=Rome/"), files[0]);
  const std::string hive = R"({"partitioning": {"style": "hive", "field_types": {"year": "int32"}}})";
  const auto read = must(rows_of(read_node("parquet", {disk.path("out")}, hive)));
  check_column(*read, "n", arrow::int64(), "[1, 3, 1, 3, 2, 5, 2, 5, 4, 4]");
  check_column(*read, "city", arrow::utf8(),
               R"(["Rome", "Rome", "Rome", "Rome", "a/b=c", "a/b=c", "a/b=c", "a/b=c", null, null])");
  const auto wrong = [&](const std::string& columns) {
    return error_of(written(write_node("parquet", disk.path("o"), R"({"partition_cols": )" + columns + "}"), {rows}));
  };
  BOOST_TEST(contains(wrong(R"(["town"])"), "names the column town, which is not there"));
  BOOST_TEST(contains(wrong(R"(["n", "city", "year"])"), "names all columns"));
}

BOOST_AUTO_TEST_CASE(fill_files_of_so_many_rows) {
  const FilesOnDisk disk;
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches(10, some_rows());
  const auto files = must(written(write_node("csv", disk.path("most"), R"({"max_rows_per_file": 7})"), batches));
  BOOST_TEST(files.size() == 6U);
  BOOST_TEST(must(rows_of(read_node("csv", {files[0]})))->num_rows() == 7);
  BOOST_TEST(must(rows_of(read_node("csv", {files[5]})))->num_rows() == 5);
  BOOST_TEST(must(written(write_node("csv", disk.path("least"), R"({"min_rows_per_file": 7})"), batches)).size() == 1U);
  BOOST_TEST(contains(error_of(written(write_node("csv", disk.path("x"), R"({"max_rows_per_file": 0})"), batches)),
                      "max_rows_per_file of the format csv is an integer above 0; found 0"));
}

BOOST_AUTO_TEST_CASE(are_seen_as_a_whole_or_not_at_all) {
  const FilesOnDisk disk;
  const std::string folder = disk.path("out");
  {
    const auto writer =
        must(open_writer(write_node("csv", folder), some_rows()->schema(), arrow::default_memory_pool()));
    must(writer->write(some_rows()));
    BOOST_TEST(contains(error_of(rows_of(read_node("csv", {folder}))), "there is no file in this folder"));
  }
  BOOST_TEST(!std::filesystem::exists(folder));
  // What a killed process leaves behind goes with the next write.
  disk.write("out/.headway-write-0123456789ab/x.csv", "n\n");
  must(written(write_node("csv", folder), {some_rows()}));
  BOOST_TEST(entries_in(folder) == 1U);
}

BOOST_AUTO_TEST_CASE(meet_what_is_there_by_mode) {
  const FilesOnDisk disk;
  const std::string folder = disk.path("out");
  using Mode = data::WriteMode;
  const auto write = [&](Mode mode) { return written(write_node("csv", folder, "{}", mode), {some_rows()}); };
  BOOST_TEST(must(write(Mode::create)).size() == 1U);
  BOOST_TEST(must(write(Mode::append)).size() == 1U);
  BOOST_TEST(must(rows_of(read_node("csv", {folder})))->num_rows() == 8);
  for (const Mode mode : {Mode::create, Mode::error}) {
    const auto refused = write(mode);
    BOOST_TEST(refused.status().IsAlreadyExists());
    BOOST_TEST(contains(refused.status().message(), folder + ": there are files"));
  }
  BOOST_TEST(must(write(Mode::ignore)).empty());
  BOOST_TEST(must(rows_of(read_node("csv", {folder})))->num_rows() == 8);
  const auto replaced = must(write(Mode::overwrite));
  BOOST_TEST(replaced.size() == 1U);
  BOOST_TEST(std::filesystem::exists(replaced[0]));
  BOOST_TEST(must(rows_of(read_node("csv", {folder})))->num_rows() == 4);
  BOOST_TEST(entries_in(disk.root()) == 2U);
}

BOOST_AUTO_TEST_CASE(go_to_other_storage_when_they_are_whole) {
  const FilesOnDisk disk;
  disk.write("bucket/x", "");
  storage::register_files("python-flowwrite", std::make_shared<storage::DirectoryFiles>(disk.root()));
  const std::string folder = "python-flowwrite://bucket/out";
  using Mode = data::WriteMode;
  {
    const auto writer =
        must(open_writer(write_node("csv", folder), some_rows()->schema(), arrow::default_memory_pool()));
    must(writer->write(some_rows()));
  }
  BOOST_TEST(!std::filesystem::exists(disk.path("bucket/out")));
  BOOST_TEST(must(written(write_node("csv", folder), {some_rows()})).size() == 1U);
  BOOST_TEST(written(write_node("csv", folder, "{}", Mode::create), {some_rows()}).status().IsAlreadyExists());
  const auto files = must(written(write_node("csv", folder, "{}", Mode::overwrite), {some_rows()}));
  BOOST_TEST(entries_in(disk.path("bucket/out")) == 1U);
  BOOST_TEST(must(rows_of(read_node("csv", files)))->num_rows() == 4);
}

BOOST_AUTO_TEST_CASE(that_a_format_has_no_place_for_are_refused_before_anything_is_written) {
  const FilesOnDisk disk;
  const auto rows = batch_of({{"l", array_of_text(arrow::list(arrow::list(arrow::int8())), "[[[1]]]")}});
  for (const char* format : {"csv", "tfrecord"}) {
    const auto opened = open_writer(write_node(format, disk.path("out")), rows->schema(), arrow::default_memory_pool());
    BOOST_TEST(contains(error_of(opened), "has no place for the column l of type list<item: list<item: int8>>"));
  }
  BOOST_TEST(contains(error_of(written(write_node("xml", disk.path("out")), {rows})), "nothing writes the format xml"));
  BOOST_TEST(contains(error_of(written(write_node("parquet", disk.path("out"), R"({"compression": "rar"})"), {rows})),
                      "compression of the format parquet is snappy, zstd"));
}

BOOST_AUTO_TEST_CASE(of_one_key_are_no_samples_of_one_archive) {
  const FilesOnDisk disk;
  const auto samples = [](const std::string& keys) {
    return batch_of(
        {{"__key__", array_of_text(arrow::utf8(), keys)}, {"txt", array_of_text(arrow::utf8(), R"(["a", "b", "c"])")}});
  };
  const auto write = [&](const std::string& keys, const std::string& options = "{}") {
    return written(write_node("webdataset", disk.path("out"), options), {samples(keys)});
  };
  BOOST_TEST(contains(error_of(write(R"(["k", "l", "k"])")), "two rows of a file have the __key__ k, and"));
  BOOST_TEST(contains(error_of(write(R"(["d/k.1", "l", "d/k.2"])")), "have the __key__ d/k.2 up to its first dot"));
  BOOST_TEST(contains(error_of(write(R"(["000000001", null, "l"])")), "have the __key__ 000000001"));
  BOOST_TEST(must(write(R"(["k", "d/k", "d.1/k"])")).size() == 1U);
  BOOST_TEST(must(write(R"(["k", "k", "k"])", R"({"max_rows_per_file": 1})")).size() == 3U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
