#include "flow/sources/files.hpp"

#include "flow/placed.hpp"
#include "flow/sources/files_on_disk.hpp"
#include "storage/faulty_files.hpp"

#include <arrow/util/io_util.h>

#include <boost/test/unit_test.hpp>

#include <cerrno>

namespace headway::flow {
namespace {

/// Below the root, with a blank after each.
std::string found_names(const FilesOnDisk& disk, const data::ReadNode& node) {
  std::string names;
  for (const SourceFile& file : must(find_files(node)).files) {
    names += file.location.substr(disk.root().size() + 1) + " ";
  }
  return names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(files_of_a_read)

BOOST_AUTO_TEST_CASE(are_those_of_directories_patterns_and_paths_in_their_order) {
  const FilesOnDisk disk;
  for (const char* name : {"a/2.csv", "a/1.csv", "a/b/3.csv", "a/_SUCCESS", "a/.hidden/4.csv", "a/note.TXT", "z.csv"}) {
    disk.write(name, "x");
  }
  const auto names = [&](const std::string& path, const std::string& options = "{}") {
    return found_names(disk, read_node("csv", {disk.path(path)}, options));
  };
  BOOST_TEST(names("a") == "a/1.csv a/2.csv a/b/3.csv a/note.TXT ");
  BOOST_TEST(names("a/*.csv") == "a/1.csv a/2.csv ");
  BOOST_TEST(names("**/*.csv") == "a/1.csv a/2.csv a/b/3.csv z.csv ");
  BOOST_TEST(names("a/[1-2].c?v") == "a/1.csv a/2.csv ");
  BOOST_TEST(names("a", R"({"file_extensions": ["txt"]})") == "a/note.TXT ");
  BOOST_TEST(found_names(disk, read_node("csv", {disk.path("z.csv"), disk.path("a/b")})) == "z.csv a/b/3.csv ");
}

BOOST_AUTO_TEST_CASE(that_are_missing_are_named_or_left_out) {
  const FilesOnDisk disk;
  const std::string there = disk.write("there.csv", "x");
  const std::string missing = disk.path("missing.csv");
  BOOST_TEST(contains(error_of(find_files(read_node("csv", {there, missing}))), missing + ": there is nothing"));
  const std::string ignoring = R"({"ignore_missing_paths": true})";
  BOOST_TEST(found_names(disk, read_node("csv", {there, missing}, ignoring)) == "there.csv ");
  BOOST_TEST(contains(error_of(find_files(read_node("csv", {missing}, ignoring))), "no file to read in " + missing));
  BOOST_TEST(contains(error_of(find_files(read_node("csv", {there}, R"({"file_extensions": ["json"]})"))),
                      "none of the endings that are read; file_extensions"));
  BOOST_TEST(contains(error_of(find_files(read_node("csv", {there}, R"({"file_extensions": 5})"))),
                      "file_extensions of the format csv is a list of text; found 5"));
}

BOOST_AUTO_TEST_CASE(have_values_in_their_paths) {
  const FilesOnDisk disk;
  disk.write("year=2025/city=New%20York/a.csv", "n\n1\n");
  disk.write("year=2026/city=__HIVE_DEFAULT_PARTITION__/b.csv", "n\n2\n");
  const std::string hive =
      R"({"partitioning": {"style": "hive", "field_types": {"year": "int32"}}, "include_paths": true})";
  const auto table = must(rows_of(read_node("csv", {disk.root()}, hive)));
  check_column(*table, "n", arrow::int64(), "[1, 2]");
  check_column(*table, "year", arrow::int32(), "[2025, 2026]");
  check_column(*table, "city", arrow::utf8(), R"(["New York", null])");
  BOOST_TEST(contains(column_of(*table, "path")->ToString(), "b.csv"));
  const std::string folders = R"({"partitioning": {"style": "dir", "base_dir": ")" + disk.root() +
                              R"(", "field_names": ["y", "c"]}, "columns": ["y", "n"]})";
  const auto by_folder = must(rows_of(read_node("csv", {disk.root()}, folders)));
  BOOST_TEST(by_folder->num_columns() == 2);
  check_column(*by_folder, "y", arrow::utf8(), R"(["year=2025", "year=2026"])");
  disk.write("what?/day=3/c.csv", "n\n3\n");
  const auto asked = must(rows_of(read_node("csv", {disk.path("what?")}, R"({"partitioning": "hive"})")));
  check_column(*asked, "day", arrow::utf8(), R"(["3"])");
}

BOOST_AUTO_TEST_CASE(with_other_fields_in_their_paths_are_refused) {
  const FilesOnDisk disk;
  disk.write("year=2025/a.csv", "n\n1\n");
  disk.write("month=1/b.csv", "n\n2\n");
  const std::string words = error_of(find_files(read_node("csv", {disk.root()}, R"({"partitioning": "hive"})")));
  BOOST_TEST(contains(words, "has the partition fields year, and"), words);
  const std::string type = error_of(
      rows_of(read_node("csv", {disk.path("year=2025")}, R"({"partitioning": {"field_types": {"year": "bool"}}})")));
  BOOST_TEST(contains(type, "the partition field year has the value 2025, which is no bool"), type);
}

BOOST_AUTO_TEST_CASE(on_other_storage_are_listed_and_read_by_it) {
  const FilesOnDisk disk;
  disk.write("bucket/d/1.csv", "n\n1\n");
  disk.write("bucket/d/2.csv", "n\n2\n");
  disk.write("bucket/d/2.txt", "n\n3\n");
  storage::register_files("python-flowtest", std::make_shared<storage::DirectoryFiles>(disk.root()));
  const auto table = must(rows_of(read_node("csv", {"python-flowtest://bucket/d/*.csv"})));
  check_column(*table, "n", arrow::int64(), "[1, 2]");
  const auto one = must(rows_of(read_node("csv", {"python-flowtest://bucket/d/2.csv"})));
  check_column(*one, "n", arrow::int64(), "[2]");
  BOOST_TEST(must(rows_of(read_node("text", {"python-flowtest://bucket/d"})))->num_rows() == 6);
  BOOST_TEST(contains(error_of(rows_of(read_node("csv", {"python-flowtest://bucket/none"}))), "there is nothing"));
}

BOOST_AUTO_TEST_CASE(that_are_small_share_units) {
  const FilesOnDisk disk;
  for (int i = 0; i < 1000; ++i) disk.write("f" + std::to_string(1000 + i), std::string(4095, 'x') + "\n");
  const auto source = opened(read_node("text", {disk.root()}));
  BOOST_TEST(source->units().size() == 4U);
  BOOST_TEST(source->files().size() == 1000U);
  BOOST_TEST(contains(source->units()[0].where, "f1000 and 255 more files"), source->units()[0].where);
  BOOST_TEST(must(rows_of(*source))->num_rows() == 1000);
}

BOOST_AUTO_TEST_CASE(that_are_tiny_do_not_all_share_one_unit) {
  const FilesOnDisk disk;
  for (int i = 0; i < 600; ++i) disk.write("f" + std::to_string(1000 + i), "x\n");
  const auto source = opened(read_node("text", {disk.root()}));
  BOOST_TEST(source->units().size() == 3U);
  BOOST_TEST(contains(source->units()[0].where, "f1000 and 255 more files"), source->units()[0].where);
  BOOST_TEST(must(rows_of(*source))->num_rows() == 600);
}

BOOST_AUTO_TEST_CASE(that_have_gone_since_they_were_listed_fail_with_the_systems_reason) {
  const FilesOnDisk disk;
  const auto source = opened(read_node("text", {disk.write("a.txt", "x\n")}));
  std::filesystem::remove(disk.path("a.txt"));
  const auto failed = rows_of(*source);
  BOOST_TEST(contains(error_of(failed), "a.txt"), error_of(failed));
  BOOST_TEST(arrow::internal::ErrnoFromStatus(unplaced(failed.status())) == ENOENT);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
