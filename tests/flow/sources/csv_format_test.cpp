#include "flow/sources/files_on_disk.hpp"

#include <arrow/util/compression.h>

#include <boost/test/unit_test.hpp>

#include <random>

namespace headway::flow {
namespace {

arrow::Result<std::shared_ptr<arrow::Table>> csv_rows(const FilesOnDisk& disk, const std::string& text,
                                                      const std::string& options = "{}") {
  return rows_of(read_node("csv", {disk.write("t.csv", text)}, options));
}

/// 400 rows with quoted line ends, delimiters and quotes at random.
std::string quoted_rows(std::uint32_t seed) {
  std::mt19937 random(seed);
  const std::vector<std::string> parts = {"a", "\n", ",", "\"\"", "bc ", "\r\n", "word", " \"\"x\"\" "};
  std::string text = "n,value,last\n";
  for (int i = 0; i < 400; ++i) {
    std::string value = "v";
    const auto count = random() % 6;
    for (std::uint32_t k = 0; k < count; ++k) value += parts[random() % parts.size()];
    text += std::to_string(i) + ",\"" + value + "w\",plain\n";
  }
  return text;
}

std::string gzipped(const std::string& text) {
  auto codec = must(arrow::util::Codec::Create(arrow::Compression::GZIP));
  const auto size = static_cast<std::int64_t>(text.size());
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  std::string packed(static_cast<std::size_t>(codec->MaxCompressedLen(size, bytes)), 0);
  auto* out = reinterpret_cast<std::uint8_t*>(packed.data());
  const auto used = must(codec->Compress(size, bytes, static_cast<std::int64_t>(packed.size()), out));
  packed.resize(static_cast<std::size_t>(used));
  return packed;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(a_csv_file)

BOOST_AUTO_TEST_CASE(has_types_of_its_values) {
  const FilesOnDisk disk;
  const auto table = must(csv_rows(disk,
                                   "\xef\xbb\xbf"
                                   "a,b,c,\"d,e\"\n1,1.5,x,2026-11-22\n2,,\"y\nz\",2026-11-23\n"));
  check_column(*table, "a", arrow::int64(), "[1, 2]");
  check_column(*table, "b", arrow::float64(), "[1.5, null]");
  check_column(*table, "c", arrow::utf8(), R"(["x", "y\nz"])");
  check_column(*table, "d,e", arrow::date32(), "[20779, 20780]");
}

BOOST_AUTO_TEST_CASE(takes_the_options_of_pyarrow) {
  const FilesOnDisk disk;
  const std::string options =
      R"({"skip_rows": 1, "column_names": ["a", "b", "c"], "delimiter": ";", "null_values": ["NA"],
          "true_values": ["yes"], "false_values": ["no"], "column_types": {"a": "float"}})";
  const auto table = must(csv_rows(disk, "# a note\n1;NA;yes\n2;5;no\n", options));
  check_column(*table, "a", arrow::float32(), "[1, 2]");
  check_column(*table, "b", arrow::int64(), "[null, 5]");
  check_column(*table, "c", arrow::boolean(), "[true, false]");
  const auto numbered = must(csv_rows(disk, "1,2\n", R"({"autogenerate_column_names": true})"));
  check_column(*numbered, "f1", arrow::int64(), "[2]");
  const std::string wrong = error_of(csv_rows(disk, "a\n", R"({"delimiter": ";;"})"));
  BOOST_TEST(contains(wrong, "delimiter of the format csv is one character of ASCII; found \";;\""), wrong);
}

BOOST_AUTO_TEST_CASE(in_parts_gives_the_rows_of_the_whole_wherever_it_is_cut) {
  const FilesOnDisk disk;
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const std::string text = quoted_rows(seed);
    const auto whole = combined(csv_rows(disk, text));
    BOOST_TEST(whole->num_rows() == 400);
    const std::string bytes = std::to_string(300 + 37 * seed);
    BOOST_TEST(combined(csv_rows(disk, text, R"({"unit_bytes": )" + bytes + "}"))->Equals(*whole), "seed " << seed);
    const auto stream = csv_rows(disk, text, R"({"newlines_in_values": true})");
    BOOST_TEST(combined(stream)->Equals(*whole), "seed " << seed);
  }
}

/// Longer than the blocks in which it is read.
BOOST_AUTO_TEST_CASE(with_escapes_is_cut_where_rows_end) {
  const FilesOnDisk disk;
  const std::string fill(1500, 'x');
  std::string text = "n,quoted,bare\n";
  std::string bare_text = "n,bare\n";
  const int rows = 4000;
  for (int i = 0; i < rows; ++i) {
    const std::string bare = fill + R"(\,\\\)" + "\n\\\"z\n";
    text += std::to_string(i) + R"(,"\"a\\)" + "\n\\\n" + R"(\",b",)" + bare;
    bare_text += std::to_string(i) + "," + bare;
  }
  const auto table = combined(csv_rows(disk, text, R"({"escape_char": "\\"})"));
  const auto bare = combined(csv_rows(disk, bare_text, R"({"escape_char": "\\", "quote_char": false})"));
  BOOST_TEST_REQUIRE(table->num_rows() == rows);
  BOOST_TEST_REQUIRE(bare->num_rows() == rows);
  for (const int row : {0, rows / 2, rows - 1}) {
    BOOST_TEST(must(table->GetColumnByName("n")->GetScalar(row))->ToString() == std::to_string(row));
    BOOST_TEST(must(table->GetColumnByName("quoted")->GetScalar(row))->ToString() == "\"a\\\n\n\",b");
    BOOST_TEST(must(table->GetColumnByName("bare")->GetScalar(row))->ToString() == fill + ",\\\n\"z");
    BOOST_TEST(must(bare->GetColumnByName("bare")->GetScalar(row))->ToString() == fill + ",\\\n\"z");
  }
}

BOOST_AUTO_TEST_CASE(whose_quotes_deceive_is_an_error_and_never_other_rows) {
  const FilesOnDisk disk;
  std::string text = "a,b\n1,\"";
  for (int i = 0; i < 200; ++i) text += "x,\"\"y\"\"\n\"\",\"\"\n";
  text += "\"\n2,z\n";
  const auto whole = combined(csv_rows(disk, text));
  BOOST_TEST(whole->num_rows() == 2);
  const auto parts = csv_rows(disk, text, R"({"unit_bytes": 64})");
  if (parts.ok()) {
    BOOST_TEST(combined(parts)->Equals(*whole));
  } else {
    BOOST_TEST(contains(parts.status().message(), "newlines_in_values"), parts.status().message());
  }
}

BOOST_AUTO_TEST_CASE(without_a_line_end_at_its_end_or_without_rows_is_read_to_its_end) {
  const FilesOnDisk disk;
  check_column(*must(csv_rows(disk, "a,b\n1,\"x\ny\"")), "b", arrow::utf8(), R"(["x\ny"])");
  BOOST_TEST(must(csv_rows(disk, "a,b\n"))->num_rows() == 0);
  const auto bare = must(csv_rows(disk, "a,b\n1,5\" pipe\n2,6\" pipe\n3,7\" pipe\n"));
  check_column(*bare, "b", arrow::utf8(), R"(["5\" pipe", "6\" pipe", "7\" pipe"])");
  BOOST_TEST(contains(error_of(csv_rows(disk, "")), "t.csv: it has no row with the names of columns"));
  BOOST_TEST(contains(error_of(csv_rows(disk, "a,a\n1,2\n")), "names the column a twice"));
}

BOOST_AUTO_TEST_CASE(that_is_compressed_is_decompressed) {
  const FilesOnDisk disk;
  const std::string text = quoted_rows(3);
  const auto unpacked = rows_of(read_node("csv", {disk.write("t.csv.gz", gzipped(text))}));
  BOOST_TEST(combined(unpacked)->Equals(*combined(csv_rows(disk, text))));
}

BOOST_AUTO_TEST_CASE(with_a_bad_value_or_row_is_named_with_its_line_and_column) {
  const FilesOnDisk disk;
  std::string rows;
  for (int i = 0; i < 300000; ++i) rows += "1234567,x\n";
  const std::string parts = R"({"unit_bytes": 400000})";
  const std::string value = error_of(csv_rows(disk, "a,b\n" + rows + "later,x\n" + rows, parts));
  BOOST_TEST(contains(value, "t.csv: column a: line 300002: CSV conversion error to int64: invalid value 'later'"),
             value);
  BOOST_TEST(contains(value, "column_types sets it"), value);
  const std::string row = error_of(csv_rows(disk, "a,b\n" + rows + "1,2,3\n" + rows, parts));
  BOOST_TEST(contains(row, "line 300002"), row);
  BOOST_TEST(contains(row, "Expected 2 columns, got 3"), row);
}

BOOST_AUTO_TEST_CASE(of_several_has_the_columns_of_the_first) {
  const FilesOnDisk disk;
  disk.write("d/1.csv", "a,b\n1,x\n");
  disk.write("d/2.csv", "b,a\ny,2.5\n");
  const auto table = must(rows_of(read_node("csv", {disk.path("d")})));
  check_column(*table, "a", arrow::float64(), "[1, 2.5]");
  check_column(*table, "b", arrow::utf8(), R"(["x", "y"])");
  const auto source = opened(read_node("csv", {disk.path("d")}, R"({"columns": ["b", "a"]})"));
  const std::vector<int> second = {1};
  const auto chosen = must(rows_of(*source, &second));
  BOOST_TEST(chosen->num_columns() == 1);
  check_column(*chosen, "a", arrow::float64(), "[1, 2.5]");
  disk.write("d/3.csv", "a,c\n1,2\n");
  BOOST_TEST(contains(error_of(rows_of(read_node("csv", {disk.path("d")}))), "3.csv: the column b is missing"));
  disk.write("d/3.csv", "a,b,c\n1,2,3\n");
  BOOST_TEST(contains(error_of(rows_of(read_node("csv", {disk.path("d")}))), "3.csv: it has the additional column c"));
  BOOST_TEST(contains(error_of(rows_of(read_node("csv", {disk.path("d/1.csv")}, R"({"columns": ["z"]})"))),
                      "there is no column z; the columns are a, b"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
