#include "flow/seen_rows.hpp"

#include "flow/functions/wider_schema.hpp"
#include "flow/sources/files_on_disk.hpp"
#include "flow/sources/line_blocks.hpp"

#include <arrow/io/memory.h>

#include <boost/test/unit_test.hpp>

namespace headway::flow {
namespace {

std::shared_ptr<arrow::Schema> x_is(const std::shared_ptr<arrow::DataType>& type) {
  return arrow::schema({arrow::field("x", type)});
}

/// The first, the third and the last are looked into before they are read.
data::ReadNode five_files(const FilesOnDisk& disk, const std::string& second, const std::string& options = "{}") {
  for (const char* name : {"0", "2", "3", "4"}) disk.write("in/" + std::string(name) + ".json", "{\"x\": 1}\n");
  disk.write("in/1.json", second);
  return read_node("json", {disk.path("in")}, options);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(types_behind_samples)

BOOST_AUTO_TEST_CASE(are_known_when_the_source_is_opened_again) {
  const FilesOnDisk disk;
  const auto node = five_files(disk, "{\"x\": 0.5}\n");
  const auto seen = std::make_shared<SeenRows>();
  const auto first = must(open_source(node, arrow::default_memory_pool(), 0, seen));
  BOOST_TEST(first->schema()->Equals(*x_is(arrow::int64())));
  BOOST_TEST(is_schema_widened(rows_of(*first).status()));
  const auto again = must(open_source(node, arrow::default_memory_pool(), 0, seen));
  check_column(*must(rows_of(*again)), "x", arrow::float64(), "[1, 0.5, 1, 1, 1]");
  // A part of the columns is of the same files.
  const auto part = read_node("json", {disk.path("in")}, R"({"columns": ["x"]})");
  BOOST_TEST(must(open_source(part, arrow::default_memory_pool(), 0, seen))->schema()->Equals(*again->schema()));
}

BOOST_AUTO_TEST_CASE(are_errors_where_nobody_keeps_them) {
  const FilesOnDisk disk;
  const auto failed = rows_of(five_files(disk, "{\"x\": 0.5}\n"));
  BOOST_TEST(!is_schema_widened(failed.status()));
  BOOST_TEST(contains(error_of(failed), "1.json: "), error_of(failed));
  const auto seen = std::make_shared<SeenRows>();
  const auto said = five_files(disk, "{\"x\": 0.5}\n", R"({"column_types": {"x": "int64"}})");
  const auto source = must(open_source(said, arrow::default_memory_pool(), 0, seen));
  BOOST_TEST(!is_schema_widened(rows_of(*source).status()));
}

BOOST_AUTO_TEST_CASE(are_kept_for_the_sources_that_were_used_last) {
  SeenRows seen;
  BOOST_TEST(seen.types("a") == nullptr);
  seen.add_types("a", x_is(arrow::null()));
  seen.add_types("a", x_is(arrow::int64()));
  seen.add_types("a", x_is(arrow::float64()));
  seen.add_types("b", x_is(arrow::int64()));
  for (int i = 0; i < 63; ++i) {
    BOOST_TEST(seen.types("a")->Equals(*x_is(arrow::float64())));
    seen.add_types(std::to_string(i), x_is(arrow::int64()));
  }
  BOOST_TEST(seen.types("a") != nullptr);
  BOOST_TEST(seen.types("b") == nullptr);
  seen.set_large("a");
  seen.set_large("c");
  BOOST_TEST((seen.are_large("a") && seen.are_large("c") && !seen.are_large("b")));
  BOOST_TEST((seen.types("a") != nullptr && seen.types("c") == nullptr));
}

BOOST_AUTO_TEST_CASE(blocks_have_whole_lines) {
  const auto blocks_of = [](const std::string& text, std::int64_t bytes, std::optional<Quoting> quoting = {}) {
    LineBlocks blocks(std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(text)), bytes, quoting);
    std::string all;
    for (auto block = must(blocks.next()); block != nullptr; block = must(blocks.next())) {
      all += std::to_string(blocks.lines_before()) + ":" + block->ToString() + "|";
    }
    return all;
  };
  BOOST_TEST(blocks_of("a\nb\nlonger line\nc", 4) == "0:a\nb\n|2:longer line\n|3:c|");
  BOOST_TEST(blocks_of("a\n", 100) == "0:a\n|");
  BOOST_TEST(blocks_of("", 4) == "");
  BOOST_TEST(blocks_of("1,\"a\nb\"\n2,c\nd", 8, Quoting{}) == "0:1,\"a\nb\"\n|2:2,c\n|3:d|");
  BOOST_TEST(blocks_of("1\n2,\"a\nb\"\n", 7, Quoting{}) == "0:1\n|1:2,\"a\nb\"\n|");
  BOOST_TEST(blocks_of("1,5\" pipe\n2,x\n", 13, Quoting{}) == "0:1,5\" pipe\n|1:2,x\n|");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
