#include "flow/sources/files_on_disk.hpp"
#include "flow/sources/tar_files.hpp"
#include "flow/writers/writer.hpp"

#include <arrow/buffer.h>
#include <arrow/io/memory.h>

#include <boost/test/unit_test.hpp>

#include <cstdlib>

namespace headway::flow {
namespace {

std::string archive_of(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string bytes;
  for (const auto& [name, content] : files) must(append_tar_file(name, content, bytes));
  return bytes + tar_end();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(a_webdataset)

BOOST_AUTO_TEST_CASE(has_a_row_for_each_sample_and_a_column_for_each_suffix) {
  const FilesOnDisk disk;
  const std::string path = disk.write("a.tar", archive_of({{"d/1.jpg", "J1"},
                                                           {"d/1.cls", "7\n"},
                                                           {"d/1.seg.png", "P"},
                                                           {"README", "no sample"},
                                                           {"d/2.jpg", "J2"},
                                                           {"d/2.json", "{\"k\": 1}"}}));
  const auto table = must(rows_of(read_node("webdataset", {path})));
  check_column(*table, "__key__", arrow::utf8(), R"(["d/1", "d/2"])");
  check_column(*table, "jpg", arrow::binary(), R"(["J1", "J2"])");
  check_column(*table, "cls", arrow::int64(), "[7, null]");
  check_column(*table, "seg.png", arrow::binary(), R"(["P", null])");
  check_column(*table, "json", arrow::utf8(), R"([null, "{\"k\": 1}"])");
  const auto raw = must(rows_of(read_node("webdataset", {path}, R"({"decode": false, "suffixes": ["cls"]})")));
  BOOST_TEST(raw->num_columns() == 3);
  check_column(*raw, "cls", arrow::binary(), R"(["7\n", null])");
  check_column(*raw, "__url__", arrow::utf8(), "[\"" + path + "\", \"" + path + "\"]");
}

BOOST_AUTO_TEST_CASE(with_other_files_or_bad_ones_is_named_with_the_sample) {
  const FilesOnDisk disk;
  std::vector<std::pair<std::string, std::string>> files;
  for (int i = 0; i < 200; ++i) files.emplace_back(std::to_string(i) + ".cls", "1");
  files.emplace_back("201.txt", "x");
  const auto words = [&](const std::string& bytes) {
    return error_of(rows_of(read_node("webdataset", {disk.write("a.tar", bytes)})));
  };
  BOOST_TEST(contains(words(archive_of(files)), "a.tar: the sample 201 has an additional file .txt"));
  files.back() = {"201.cls", "one"};
  BOOST_TEST(contains(words(archive_of(files)), "the file .cls of the sample 201 is no integer: one"));
  BOOST_TEST(contains(words(archive_of(files).substr(0, 700)), "a.tar: the archive ends early"));
  BOOST_TEST(contains(words(std::string(600, 'x')), "it is no tar archive"));
  BOOST_TEST(contains(words(archive_of({{"1.cls", "1"}, {"2.cls", "2"}, {"1.txt", "x"}})),
                      "a.tar: the files of the sample 1 are not all next to each other in the archive"));
  BOOST_TEST(contains(words(archive_of({{"1.cls", "1"}, {"1.cls", "2"}})), "a.tar: the sample 1 has two files .cls"));
}

BOOST_AUTO_TEST_CASE(that_was_written_is_read_again_and_by_tar) {
  const FilesOnDisk disk;
  const std::string long_name = std::string(120, 'k') + "/s";
  const auto keys = array_of_text(arrow::utf8(), "[\"a\", \"" + long_name + "\"]");
  const auto rows = batch_of({{"__key__", keys},
                              {"jpg", array_of_text(arrow::binary(), R"(["x", "yy"])")},
                              {"cls", array_of_text(arrow::int64(), "[5, null]")},
                              {"json", array_of_text(arrow::list(arrow::int8()), "[[1, 2], []]")},
                              {"__url__", array_of_text(arrow::utf8(), R"(["x.tar", "x.tar"])")}});
  data::WriteNode node;
  node.format = "webdataset";
  node.path = disk.path("out");
  const auto writer = must(open_writer(node, rows->schema(), arrow::default_memory_pool()));
  must(writer->write(rows));
  const auto files = must(writer->finish());
  const auto read = must(rows_of(read_node("webdataset", files)));
  BOOST_TEST(column_of(*read, "__key__")->Equals(*keys));
  check_column(*read, "jpg", arrow::binary(), R"(["x", "yy"])");
  check_column(*read, "cls", arrow::int64(), "[5, null]");
  check_column(*read, "json", arrow::utf8(), R"(["[1,2]", "[]"])");
  const std::string unpack = "tar -xf " + files[0] + " -C " + disk.root();
  BOOST_TEST(std::system(unpack.c_str()) == 0);  // NOLINT(bugprone-command-processor)
  BOOST_TEST(std::filesystem::file_size(disk.path(long_name + ".jpg")) == 2U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
