#include "flow/writers/file_names.hpp"

#include "flow/errand.hpp"
#include "flow/sources/files_on_disk.hpp"
#include "flow/writers/writer.hpp"
#include "storage/faulty_files.hpp"

#include <boost/test/unit_test.hpp>

#include <future>
#include <utility>
#include <vector>

namespace headway::flow {
namespace {

using Range = std::pair<std::size_t, std::size_t>;

data::WriteNode csv_write(const std::string& path, data::WriteMode mode = data::WriteMode::append) {
  data::WriteNode node;
  node.format = "csv";
  node.path = path;
  node.mode = mode;
  node.options = parse_json(R"({"asks_names": true, "max_rows_per_file": 1})", "options").value().get_object();
  return node;
}

arrow::Result<std::vector<std::string>> written_rows(const data::WriteNode& node, int rows, const AskForNames& ask) {
  const auto one = batch_of({{"n", array_of_text(arrow::int64(), "[1]")}});
  ARROW_ASSIGN_OR_RAISE(const auto writer, open_writer(node, one->schema(), arrow::default_memory_pool(), ask));
  for (int row = 0; row < rows; ++row) ARROW_RETURN_NOT_OK(writer->write(one));
  return writer->finish();
}

arrow::Result<std::vector<std::string>> numbered(std::size_t first, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = first; i < first + count; ++i) names.push_back("f" + std::to_string(i) + ".csv");
  return names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(names_of_files)

BOOST_AUTO_TEST_CASE(are_asked_for_as_many_as_there_were) {
  const FilesOnDisk disk;
  std::vector<Range> asked;
  const auto ask = [&](std::size_t first, std::size_t count) {
    asked.emplace_back(first, count);
    return numbered(first, count);
  };
  const auto files = must(written_rows(csv_write(disk.path("out")), 9, ask));
  BOOST_TEST((asked == std::vector<Range>{{0, 1}, {1, 1}, {2, 2}, {4, 4}, {8, 8}}));
  BOOST_TEST(files.size() == 9U);
  BOOST_TEST(files[8] == disk.path("out/f8.csv"));
}

BOOST_AUTO_TEST_CASE(that_nobody_says_end_the_write) {
  const FilesOnDisk disk;
  const auto none = [](std::size_t, std::size_t) { return std::vector<std::string>(); };
  BOOST_TEST(contains(error_of(written_rows(csv_write(disk.path("out")), 1, none)), "the client gave 0 names"));
  BOOST_TEST(contains(error_of(written_rows(csv_write(disk.path("out")), 1, nullptr)), "nobody is there"));
  BOOST_TEST(!std::filesystem::exists(disk.path("out")));
}

BOOST_AUTO_TEST_CASE(that_are_there_on_other_storage_are_replaced_only_with_all_others) {
  const FilesOnDisk disk;
  disk.write("bucket/x", "");
  storage::register_files("python-flownames", std::make_shared<storage::DirectoryFiles>(disk.root()));
  const std::string folder = "python-flownames://bucket/out";
  must(written_rows(csv_write(folder), 3, numbered));
  const auto again = written_rows(csv_write(folder), 3, numbered);
  BOOST_TEST(again.status().IsAlreadyExists());
  BOOST_TEST(contains(error_of(again), "f0.csv already; a write that adds to a folder needs new names"));
  must(written_rows(csv_write(folder, data::WriteMode::overwrite), 2, numbered));
  BOOST_TEST(std::filesystem::exists(disk.path("bucket/out/f0.csv")));
  BOOST_TEST(std::filesystem::exists(disk.path("bucket/out/f1.csv")));
  BOOST_TEST(!std::filesystem::exists(disk.path("bucket/out/f2.csv")));
}

BOOST_AUTO_TEST_CASE(are_no_places) {
  BOOST_TEST(check_file_name("a b.csv").ok());
  for (const char* name : {"", ".", "..", "../a", "/a", "a/b", ".a", "_a", "\xff"}) {
    BOOST_TEST(!check_file_name(name).ok(), name);
  }
  BOOST_TEST(!check_file_name(std::string("a\0b", 3)).ok());
  BOOST_TEST(check_file_name(std::string(255, 'a')).ok());
  BOOST_TEST(!check_file_name(std::string(256, 'a')).ok());
}

BOOST_AUTO_TEST_CASE(come_from_the_client_of_an_errand_until_it_goes) {
  Errand errand;
  BOOST_TEST(!errand.answer({"a"}));
  BOOST_TEST(contains(error_of(errand.names(0, 1)), "nobody is there"));
  std::promise<Range> asked;
  errand.ask_by([&](std::size_t first, std::size_t count) { asked.set_value({first, count}); });
  auto names = std::async(std::launch::async, [&] { return errand.names(3, 2); });
  BOOST_TEST((asked.get_future().get() == Range{3, 2}));
  BOOST_TEST(errand.answer({"a", "b"}));
  BOOST_TEST((must(names.get()) == std::vector<std::string>{"a", "b"}));
  BOOST_TEST(!errand.answer({"a"}));
  std::promise<void> again;
  errand.ask_by([&](std::size_t, std::size_t) { again.set_value(); });
  names = std::async(std::launch::async, [&] { return errand.names(5, 1); });
  again.get_future().get();
  errand.stop();
  BOOST_TEST(names.get().status().IsCancelled());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
