#include "flow/sources/files_on_disk.hpp"
#include "flow/sources/tfrecord_records.hpp"

#include <boost/test/unit_test.hpp>

namespace headway::flow {
namespace {

Feature integers_of(std::vector<std::int64_t> values) {
  Feature feature;
  feature.kind = Feature::Kind::integers;
  feature.integers = std::move(values);
  return feature;
}

Feature bytes_feature(std::string_view value) {
  Feature feature;
  feature.kind = Feature::Kind::bytes;
  feature.bytes = {value};
  return feature;
}

std::string record_of(const std::vector<std::pair<std::string, Feature>>& features) {
  ExampleBuilder example;
  for (const auto& [name, feature] : features) example.add(name, feature);
  std::string out;
  append_record(example.finish(), out);
  return out;
}

arrow::Result<std::shared_ptr<arrow::Table>> record_rows(const FilesOnDisk& disk, const std::string& bytes,
                                                         const std::string& options = "{}") {
  return rows_of(read_node("tfrecord", {disk.write("t.tfrecord", bytes)}, options));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(a_tfrecord_file)

BOOST_AUTO_TEST_CASE(has_the_checksums_and_the_wire_format_that_are_specified) {
  // One Example with the feature a = [5, -1].
  const std::string head(
      "\x0a\x16\x0a\x14\x0a\x01"
      "a\x12\x0f\x1a\x0d\x0a\x0b\x05",
      14);
  const std::string example = head + std::string(9, '\xff') + '\x01';
  const auto features = must(parse_example(example));
  BOOST_TEST(features.at("a").integers == (std::vector<std::int64_t>{5, -1}), boost::test_tools::per_element());
  ExampleBuilder builder;
  builder.add("a", integers_of({5, -1}));
  BOOST_TEST(builder.finish() == example);
  // The checksums of RFC 3720, appendix B.4: 32 bytes of zeros have 0x8a9136aa.
  std::string record;
  append_record(std::string(32, '\0'), record);
  const auto crc = std::uint32_t{0x8a9136aa};
  const std::uint32_t masked = ((crc >> 15U) | (crc << 17U)) + 0xa282ead8U;
  BOOST_TEST(record.substr(record.size() - 4) == std::string(reinterpret_cast<const char*>(&masked), 4));
}

BOOST_AUTO_TEST_CASE(has_a_column_for_each_feature) {
  const FilesOnDisk disk;
  Feature floats;
  floats.kind = Feature::Kind::floats;
  floats.floats = {1.5F, -2};
  const std::string bytes = record_of({{"label", integers_of({7})}, {"name", bytes_feature("x")}, {"v", floats}}) +
                            record_of({{"label", integers_of({-8})}, {"v", {}}});
  const auto table = must(record_rows(disk, bytes));
  check_column(*table, "label", arrow::int64(), "[7, -8]");
  check_column(*table, "name", arrow::binary(), R"(["x", null])");
  check_column(*table, "v", arrow::list(arrow::float32()), "[[1.5, -2], []]");
  const auto chosen = must(record_rows(disk, bytes, R"({"columns": ["name"]})"));
  BOOST_TEST(chosen->num_columns() == 1);
  const std::string all = R"({"tf_schema": {"label": "list<int64>", "name": "string", "v": "list<float>"}})";
  check_column(*must(record_rows(disk, bytes, all)), "label", arrow::list(arrow::int64()), "[[7], [-8]]");
}

BOOST_AUTO_TEST_CASE(that_is_broken_or_has_other_features_is_named_with_its_record) {
  const FilesOnDisk disk;
  std::string many;
  for (int i = 0; i < 2000; ++i) many += record_of({{"a", integers_of({i})}});
  const std::string two = error_of(record_rows(disk, many + record_of({{"a", integers_of({1, 2})}})));
  BOOST_TEST(contains(two, "t.tfrecord: record 2000 has 2 values of a, and one in the data set's schema"), two);
  const std::string other = error_of(record_rows(disk, many + record_of({{"a", bytes_feature("x")}})));
  BOOST_TEST(contains(other, "record 2000 has bytes as a, whose type in the data set's schema is int64"), other);
  const std::string more = error_of(record_rows(disk, many + record_of({{"b", integers_of({1})}})));
  BOOST_TEST(contains(more, "record 2000 has the additional feature b"), more);
  std::string broken = many;
  broken[broken.size() / 2] ^= 1;
  BOOST_TEST(contains(error_of(record_rows(disk, broken)), "checksum does not fit"));
  BOOST_TEST(contains(error_of(record_rows(disk, many.substr(0, many.size() - 2))), "record 1999 ends early"));
  BOOST_TEST(contains(error_of(record_rows(disk, "text that is no records")), "no TFRecord file"));
  BOOST_TEST(contains(error_of(record_rows(disk, many, R"({"tf_schema": {"a": "date32"}})")), "tf_schema"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
