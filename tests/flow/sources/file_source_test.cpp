#include "flow/sources/files_on_disk.hpp"

#include <arrow/io/api.h>

#include <boost/test/unit_test.hpp>

#include <parquet/arrow/writer.h>

/// Units of several files, and more of them for the same files.
namespace headway::flow {
namespace {

/// Files of `id`, which counts on from file to file.
struct NumberedFiles {
  explicit NumberedFiles(const std::vector<std::int64_t>& rows, std::int64_t group_rows = 1000) {
    std::int64_t next = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      arrow::Int64Builder ids;
      for (std::int64_t row = 0; row < rows[i]; ++row) must(ids.Append(next++));
      const auto table = arrow::Table::Make(arrow::schema({arrow::field("id", arrow::int64())}), {must(ids.Finish())});
      paths.push_back(disk.path(std::to_string(i) + ".parquet"));
      const auto out = must(arrow::io::FileOutputStream::Open(paths.back()));
      must(parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), out, group_rows));
    }
  }

  FilesOnDisk disk;
  std::vector<std::string> paths;
};

std::vector<std::int64_t> rows_of_units(const Source& source) {
  std::vector<std::int64_t> rows;
  for (const Unit& unit : source.units()) rows.push_back(unit.rows);
  return rows;
}

std::vector<std::string> words_of_units(const Source& source, const std::string& folder) {
  std::vector<std::string> words;
  for (const Unit& unit : source.units()) words.push_back(unit.where.substr(folder.size() + 1));
  return words;
}

using Rows = std::vector<std::int64_t>;
using Words = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(file_source)

BOOST_AUTO_TEST_CASE(small_files_are_one_unit_and_finer_units_are_of_fewer_files) {
  const NumberedFiles files({100, 100, 100, 5, 100});
  const auto packed = opened(read_node("parquet", files.paths));
  BOOST_TEST(rows_of_units(*packed) == Rows{405});
  const auto finer = packed->in_finer_units({.rows_min = 63});
  BOOST_TEST(rows_of_units(*finer) == (Rows{100, 100, 100, 105}));
  BOOST_TEST(words_of_units(*finer, files.disk.root()) ==
             (Words{"0.parquet", "1.parquet", "2.parquet", "3.parquet and 1 more file"}));
  BOOST_TEST(combined(rows_of(*finer))->Equals(*combined(rows_of(*packed))));
}

BOOST_AUTO_TEST_CASE(finer_units_have_whole_batches) {
  const NumberedFiles files({100, 100, 30, 0, 30, 100, 7});
  const auto packed = opened(read_node("parquet", files.paths));
  const auto finer = packed->in_finer_units({.rows_min = 64, .batch_rows = 32});
  BOOST_TEST(rows_of_units(*finer) == (Rows{96, 96, 64, 96, 15}));
  BOOST_TEST(combined(rows_of(*finer))->Equals(*combined(rows_of(*packed))));
  const std::string folder = files.disk.root() + "/";
  BOOST_TEST(finer->units()[1].where == folder + "0.parquet from row 96 on and 1 more file");
  BOOST_TEST(finer->place_of(finer->units()[1], 3) == folder + "0.parquet, row 99");
  BOOST_TEST(finer->place_of(finer->units()[1], 4) == folder + "1.parquet, row 0");
  for (const std::int64_t batch : {1, 7, 32, 101}) {
    const auto each = packed->in_finer_units({.rows_min = batch, .batch_rows = batch});
    for (std::size_t i = 0; i + 1 < each->units().size(); ++i) BOOST_TEST(each->units()[i].rows % batch == 0);
    BOOST_TEST(combined(rows_of(*each))->Equals(*combined(rows_of(*packed))));
  }
}

BOOST_AUTO_TEST_CASE(parts_of_a_file_go_apart_and_say_which_rows) {
  const NumberedFiles files({100}, 25);
  const auto packed = opened(read_node("parquet", files.paths));
  BOOST_TEST(rows_of_units(*packed) == Rows{100});
  const auto finer = packed->in_finer_units({.rows_min = 20, .batch_rows = 20});
  BOOST_TEST(rows_of_units(*finer) == (Rows{20, 20, 20, 40}));
  BOOST_TEST(words_of_units(*finer, files.disk.root()) ==
             (Words{"0.parquet, rows 0 to 19", "0.parquet, rows 20 to 39", "0.parquet, rows 40 to 59",
                    "0.parquet, rows 60 to 99"}));
  BOOST_TEST(combined(rows_of(*finer))->Equals(*combined(rows_of(*packed))));
}

BOOST_AUTO_TEST_CASE(where_rows_are_not_known_finer_units_have_about_as_many_bytes) {
  const FilesOnDisk disk;
  std::vector<std::string> paths;
  for (const int lines : {1, 1, 1, 1, 4, 1, 1}) {
    std::string text;
    for (int line = 0; line < lines; ++line) text += "0123456789\n";
    paths.push_back(disk.write(std::to_string(paths.size()) + ".txt", text));
  }
  const auto packed = opened(read_node("text", paths));
  BOOST_TEST(packed->units().size() == 1);
  const auto finer = packed->in_finer_units({.units = 5});
  BOOST_TEST(rows_of_units(*finer) == (Rows{-1, -1, -1, -1}));
  BOOST_TEST(words_of_units(*finer, disk.root()) ==
             (Words{"0.txt and 1 more file", "2.txt and 1 more file", "4.txt", "5.txt and 1 more file"}));
  BOOST_TEST(combined(rows_of(*finer))->Equals(*combined(rows_of(*packed))));
  BOOST_TEST(packed->in_finer_units({.units = 100})->units().size() == paths.size());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
