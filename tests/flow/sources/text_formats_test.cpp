#include "flow/sources/files_on_disk.hpp"

#include <boost/test/unit_test.hpp>

namespace headway::flow {

BOOST_AUTO_TEST_SUITE(files_of_json)

BOOST_AUTO_TEST_CASE(are_lines_lists_or_one_object_after_another) {
  const FilesOnDisk disk;
  const std::vector<std::string> texts = {
      "{\"a\": 1, \"s\": \"x\"}\n{\"a\": 2, \"s\": \"{,}\\n\\\"\"}\n",
      "[{\"a\": 1, \"s\": \"x\"}, {\"a\": 2, \"s\": \"{,}\\n\\\"\"}]",
      "[\n {\n \"a\": 1,\n \"s\": \"x\"},\n{\"a\": 2,\n\"s\": \"{,}\\n\\\"\"\n}\n]\n",
      "{\n\"a\": 1,\n\"s\": \"x\"\n}\n{\"a\": 2, \"s\":\n\"{,}\\n\\\"\"}"};
  for (const std::string& text : texts) {
    const auto table = must(rows_of(read_node("json", {disk.write("t.json", text)})));
    check_column(*table, "a", arrow::int64(), "[1, 2]");
    check_column(*table, "s", arrow::utf8(), R"(["x", "{,}\n\""])");
  }
  BOOST_TEST(must(rows_of(read_node("json", {disk.write("e.json", "[]")})))->num_rows() == 0);
}

BOOST_AUTO_TEST_CASE(have_nested_types_and_nulls_for_what_is_missing) {
  const FilesOnDisk disk;
  const std::string text =
      "{\"a\": {\"x\": [1, 2]}}\n{\"b\": 2.5}\n{\"a\": null, \"b\": 3, \"c\": \"2026-11-22 10:00:00\"}\n";
  const auto table = must(rows_of(read_node("json", {disk.write("t.jsonl", text)})));
  check_column(*table, "a", arrow::struct_({arrow::field("x", arrow::list(arrow::int64()))}),
               R"([{"x": [1, 2]}, null, null])");
  check_column(*table, "b", arrow::float64(), "[null, 2.5, 3]");
  check_column(*table, "c", arrow::timestamp(arrow::TimeUnit::SECOND), R"([null, null, "2026-11-22 10:00:00"])");
}

BOOST_AUTO_TEST_CASE(in_parts_give_the_rows_of_the_whole) {
  const FilesOnDisk disk;
  std::string text;
  for (int i = 0; i < 3000; ++i) {
    text +=
        R"({"n": )" + std::to_string(i) + R"(, "s": ")" + std::string(static_cast<std::size_t>(i % 50), 'z') + "\"}\n";
  }
  const std::string path = disk.write("t.jsonl", text);
  const auto source = opened(read_node("json", {path}, R"({"unit_bytes": 5000})"));
  BOOST_TEST(source->units().size() > 10U);
  BOOST_TEST(contains(source->units()[1].where, "t.jsonl, bytes 5000 to 9999"), source->units()[1].where);
  BOOST_TEST(combined(rows_of(*source))->Equals(*combined(rows_of(read_node("json", {path})))));
}

BOOST_AUTO_TEST_CASE(with_a_bad_row_or_column_are_named_with_it) {
  const FilesOnDisk disk;
  std::string text;
  for (int i = 0; i < 90000; ++i) text += "{\"n\": 12345678, \"k\": 1}\n";
  const auto error_with = [&](const std::string& line, const std::string& options) {
    std::string whole = text;
    whole += line + "\n";
    whole += text;
    return error_of(rows_of(read_node("json", {disk.write("t.jsonl", whole)}, options)));
  };
  const std::string type = error_with("{\"n\": \"x\", \"k\": 1}", R"({"unit_bytes": 100000})");
  BOOST_TEST(contains(type, "t.jsonl: "), type);
  BOOST_TEST(contains(type, "Column(/n)"), type);
  BOOST_TEST(contains(type, "in row 90000"), type);
  std::string turned;
  for (int i = 0; i < 90000; ++i) turned += "{\"n\": \"x\", \"k\": 1}\n";
  const std::string both = error_of(rows_of(read_node("json", {disk.write("turned.jsonl", text + turned)})));
  BOOST_TEST(contains(both, "Column(/n) is number in other rows, and string in row 90000"), both);
  const std::string column = error_with("{\"n\": 1, \"k\": 1, \"more\": 5}", "{}");
  BOOST_TEST(contains(column, "additional column more"), column);
  const auto typed = must(rows_of(read_node("json", {disk.path("t.jsonl")}, R"({"column_types": {"more": "int8"}})")));
  BOOST_TEST(typed->GetColumnByName("more")->type()->Equals(*arrow::int8()));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(files_of_text)

BOOST_AUTO_TEST_CASE(have_a_row_for_each_line) {
  const FilesOnDisk disk;
  const std::string path = disk.write("t.txt", "one\n\n  \ntwo \xc3\xa4\nthree");
  const std::string rows = "[\"one\", \"two \xc3\xa4\", \"three\"]";
  check_column(*must(rows_of(read_node("text", {path}))), "text", arrow::utf8(), rows);
  check_column(*must(rows_of(read_node("text", {path}, R"({"drop_empty_lines": false})"))), "text", arrow::utf8(),
               "[\"one\", \"\", \"  \", \"two \xc3\xa4\", \"three\"]");
  check_column(*must(rows_of(read_node("text", {path}, R"({"unit_bytes": 3})"))), "text", arrow::utf8(), rows);
}

BOOST_AUTO_TEST_CASE(may_have_other_encodings) {
  const FilesOnDisk disk;
  const std::string latin = disk.write("l.txt", "caf\xe9\nb");
  check_column(*must(rows_of(read_node("text", {latin}, R"({"encoding": "latin-1"})"))), "text", arrow::utf8(),
               "[\"caf\xc3\xa9\", \"b\"]");
  const std::string wide(
      "\xff\xfe"
      "a\0\n\0\xe9\0",
      8);
  check_column(*must(rows_of(read_node("text", {disk.write("w.txt", wide)}, R"({"encoding": "utf-16"})"))), "text",
               arrow::utf8(), "[\"a\", \"\xc3\xa9\"]");
  BOOST_TEST(contains(error_of(rows_of(read_node("text", {latin}))), "l.txt: line 1 is no UTF-8"));
  BOOST_TEST(contains(error_of(rows_of(read_node("text", {latin}, R"({"encoding": "klingon"})"))),
                      "the encoding klingon is unknown"));
}

BOOST_AUTO_TEST_CASE(or_of_anything_are_rows_of_bytes) {
  const FilesOnDisk disk;
  disk.write("d/1", std::string("a\0b", 3));
  disk.write("d/2", "");
  disk.write("d/3", "xyz");
  const auto source = opened(read_node("binary", {disk.path("d")}, R"({"include_paths": true})"));
  BOOST_TEST(source->units().size() == 1U);
  BOOST_TEST(source->units()[0].rows == 3);
  const auto table = must(rows_of(*source));
  check_column(*table, "bytes", arrow::binary(), R"(["a\u0000b", "", "xyz"])");
  BOOST_TEST(table->num_columns() == 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
