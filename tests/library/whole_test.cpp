#include "library/program_run.hpp"

#include <headway/data.hpp>

#include <csignal>
#include <fstream>
#include <functional>
#include <sys/wait.h>

/// Data sets of several others, those that need all rows at once, and those that are written.
namespace headway::library {
namespace {

struct WholeFiles {
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder.path() + "/" + name) << text;
    return folder.path() + "/" + name;
  }
  Ended run_program(const std::string& variables) const {
    const std::string trips = write("trips.csv", "city,price\na,3\nb,1\na,1\nc,\n");
    const std::string cities = write("cities.csv", "code,name\na,Aachen\nd,Dole\n");
    return run_command("env -u HEADWAY_PYTHON " + variables + " " HEADWAY_TEST_WHOLE_PROGRAM " " + trips + " " +
                       cities);
  }
  std::vector<std::filesystem::path> files_in(const std::string& name) const {
    std::vector<std::filesystem::path> found;
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder.path() + "/" + name)) {
      if (each.is_regular_file()) found.push_back(each.path());
    }
    return found;
  }
  Folder folder;
};

std::string refusal_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const BadResult& failure) {
    return std::string(to_string(failure.error().kind)) + ": " + failure.error().message;
  }
  return "nothing was thrown";
}

std::string numbers_of(const data::Dataset& rows, const std::string& column = "id") {
  std::string text;
  for (const data::Batch& batch : rows.batches()) {
    for (const std::int64_t number : batch[column].as<std::int64_t>()) text += std::to_string(number) + " ";
  }
  return text;
}

/// This process's child of this name.
pid_t child_called(const std::string& name) {
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child;) {
      std::string found;
      std::ifstream("/proc/" + std::to_string(child) + "/comm") >> found;
      if (found == name) return child;
    }
  }
  return -1;
}

void leave_as_it_is(data::Batch&) {}
HEADWAY_BATCH_FUNCTION(leave_as_it_is);

}  // namespace

BOOST_FIXTURE_TEST_SUITE(whole_suite, WholeFiles)

BOOST_AUTO_TEST_CASE(another_data_process_is_started_after_the_end_of_one) {
  BOOST_TEST(data::range(3).count() == 3);
  const pid_t killed = child_called("headway-data");
  BOOST_REQUIRE(killed > 0);
  BOOST_REQUIRE(::kill(killed, SIGKILL) == 0);
  siginfo_t end{};
  BOOST_REQUIRE(::waitid(P_PID, static_cast<id_t>(killed), &end, WEXITED | WNOWAIT) == 0);
  BOOST_TEST(data::range(4).count() == 4);
}

BOOST_AUTO_TEST_CASE(a_union_has_the_rows_of_one_data_set_after_those_of_another) {
  const data::Dataset rows = data::range(3).union_({data::range(5).filter(data::col("id") > 2), data::range(1)});
  BOOST_TEST(numbers_of(rows) == "0 1 2 3 4 0 ");
  BOOST_TEST(rows.count() == 6);
  BOOST_TEST(numbers_of(rows.union_({}).limit(4)) == "0 1 2 3 ");
}

BOOST_AUTO_TEST_CASE(duckdb_sorts_groups_and_joins) {
  const Ended ended = run_program("HEADWAY_PYTHON=" HEADWAY_TEST_PYTHON);
  BOOST_TEST_CONTEXT(ended.output) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("sorted: a 3 | a 1 | b 1 | c - |\n"));
    BOOST_TEST(ended.says("ascending: a 3 | a 1 | b 1 | c - |\n"));
    BOOST_TEST(ended.says("groups: a 4 2 | b 1 1 | c - 1 |\n"));
    BOOST_TEST(ended.says("counts: a 2 | b 1 | c 1 |\n"));
    BOOST_TEST(ended.says("all rows: 1.66 - 3.00 0.94 3 3 1 3 |\n"));
    BOOST_TEST(ended.says("inner: a 1 Aachen | a 3 Aachen |\n"));
    BOOST_TEST(ended.says("anti: b 1 | c - |\n"));
    BOOST_TEST(ended.says("together: a 1 | a 3 | a 3 | b 1 | c - |\n"));
    BOOST_TEST(ended.says("shuffled: 3\n"));
  }
}

BOOST_AUTO_TEST_CASE(without_a_python_that_has_headway_the_error_says_what_names_one) {
  const Ended none = run_program("");
  BOOST_TEST_CONTEXT(none.output) {
    BOOST_TEST(none.code == 1);
    BOOST_TEST(
        none.says("DuckDB sorts, groups and joins in a process of Python, which a C++ program finds by the "
                  "environment variable HEADWAY_PYTHON"));
  }
  const Ended wrong = run_program("HEADWAY_PYTHON=/none/python");
  BOOST_TEST_CONTEXT(wrong.output) {
    BOOST_TEST(wrong.says("invalid_argument: HEADWAY_PYTHON is \"/none/python\", which is no program"));
  }
}

BOOST_AUTO_TEST_CASE(a_package_outside_of_its_pythons_prefix_finds_that_version_in_path) {
  namespace fs = std::filesystem;
  const fs::path package = fs::path(folder.path()) / "packages/lib/python3.99/site-packages/headway";
  const fs::path programs = fs::path(folder.path()) / "programs";
  for (const fs::path& each : {package / "lib", package / "bin", programs}) fs::create_directories(each);
  const fs::path library = fs::canonical(HEADWAY_TEST_LIBRARY);
  fs::copy(library, package / "lib");
  fs::copy_file(fs::canonical(library.parent_path() / "headway-data"), package / "bin/headway-data");
  write("programs/python3.99", "#!/bin/sh\nexec " HEADWAY_TEST_PYTHON " \"$@\"\n");
  fs::permissions(programs / "python3.99", fs::perms::owner_all);
  const std::string variables = "LD_LIBRARY_PATH=" + (package / "lib").string() + " PATH=$PATH:" + programs.string();
  const Ended ended = run_program(variables);
  BOOST_TEST_CONTEXT(ended.output) {
    BOOST_TEST(ended.code == 0);
    BOOST_TEST(ended.says("ascending: a 3 | a 1 | b 1 | c - |\n"));
  }
}

BOOST_AUTO_TEST_CASE(files_that_are_written_are_read_again) {
  const data::Dataset rows = data::range(10).with_column("data", data::col("id") * 2);
  const std::string path = folder.path() + "/";
  rows.write_parquet(path + "parquet", {.max_rows_per_file = 4}, {.compression = "zstd"});
  BOOST_TEST(files_in("parquet").size() == 3U);
  BOOST_TEST(numbers_of(data::read_parquet(path + "parquet")) == "0 1 2 3 4 5 6 7 8 9 ");
  rows.write_parquet(path + "parts", {}, {.partition_cols = {"id"}});
  BOOST_TEST(std::filesystem::exists(path + "parts/id=7"));
  rows.write_csv(path + "csv");
  BOOST_TEST(numbers_of(data::read_csv(path + "csv"), "data") == "0 2 4 6 8 10 12 14 16 18 ");
  rows.write_json(path + "json");
  BOOST_TEST(numbers_of(data::read_json(path + "json"), "data") == "0 2 4 6 8 10 12 14 16 18 ");
  rows.write_orc(path + "orc");
  BOOST_TEST(data::read_orc(path + "orc").count() == 10);
  rows.write_numpy(path + "numpy");
  BOOST_TEST(numbers_of(data::read_numpy(path + "numpy"), "data") == "0 2 4 6 8 10 12 14 16 18 ");
  rows.write_tfrecords(path + "tfrecords");
  BOOST_TEST(numbers_of(data::read_tfrecords(path + "tfrecords"), "id") == "0 1 2 3 4 5 6 7 8 9 ");
  data::range(2).with_column("__key__", data::col("id").cast("string")).write_webdataset(path + "tars");
  BOOST_TEST(files_in("tars").size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_mode_says_what_becomes_of_files_that_are_there) {
  const std::string path = folder.path() + "/rows";
  data::range(2).write_parquet(path);
  data::range(3).write_parquet(path, {.mode = data::SaveMode::ignore});
  BOOST_TEST(numbers_of(data::read_parquet(path)) == "0 1 ");
  BOOST_TEST(refusal_of([&] {
               data::range(3).write_parquet(path, {.mode = data::SaveMode::create});
             }).starts_with("already_exists: "));
  data::range(3).write_parquet(path, {.mode = data::SaveMode::overwrite});
  BOOST_TEST(numbers_of(data::read_parquet(path)) == "0 1 2 ");
  data::range(1).write_parquet(path);
  BOOST_TEST(data::read_parquet(path).count() == 4);
}

BOOST_AUTO_TEST_CASE(arguments_that_make_no_sense_are_refused_by_name) {
  const data::Dataset rows = data::range(3);
  BOOST_TEST(refusal_of([&] { (void)rows.sort({}); }) ==
             "invalid_argument: keys is empty; allowed: at least one column's name");
  BOOST_TEST(refusal_of([&] { (void)rows.sort({"id"}, {true, false}); }) ==
             "invalid_argument: descending has 2 values; allowed: none, or one for each of 1 columns");
  BOOST_TEST(refusal_of([&] { (void)rows.aggregate({}); }).starts_with("invalid_argument: values is empty"));
  BOOST_TEST(refusal_of([&] {
               (void)rows.groupby({"id"}).aggregate({data::aggregate::count().as("id")});
             }).starts_with("invalid_argument: values has the name \"id\" twice, or it is a key's"));
  BOOST_TEST(refusal_of([&] { (void)data::aggregate::quantile("id", 2); }).ends_with("allowed: a number from 0 to 1"));
  BOOST_TEST(refusal_of([&] { (void)rows.join(rows, data::JoinType::inner, {.right_on = {"id", "x"}}); }) ==
             "invalid_argument: JoinOptions.right_on has 2 columns; allowed: none, or as many as on, which has 1");
  BOOST_TEST(refusal_of([&] { rows.write_parquet(folder.path(), {.min_rows_per_file = 3, .max_rows_per_file = 2}); }) ==
             "invalid_argument: WriteOptions.min_rows_per_file is 3; allowed: at most max_rows_per_file, which is 2");
  BOOST_TEST(refusal_of([&] { rows.write_csv(""); }) == "invalid_argument: path is \"\"; allowed: a path or a URL");
  const std::string behind =
      "() comes behind map_batches(), whose functions run in the process that asks for batches; allowed: before "
      "map_batches()";
  const data::Dataset called = rows.map_batches(leave_as_it_is);
  BOOST_TEST(refusal_of([&] { (void)rows.union_({called}); }) == "invalid_argument: union_" + behind);
  BOOST_TEST(refusal_of([&] { called.write_json(folder.path()); }) == "invalid_argument: write_json" + behind);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::library
