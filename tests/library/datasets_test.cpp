#include <headway/data.hpp>

#include "library/program_run.hpp"

#include <fstream>
#include <functional>

/// Data sets outside of a training: in this process, with a separate data process.
namespace headway::library {
namespace {

using data::col;

struct Files {
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder.path() + "/" + name) << text;
    return folder.path() + "/" + name;
  }
  Folder folder;
};

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const BadResult& failure) {
    return std::string(to_string(failure.error().kind)) + ": " + failure.error().message;
  }
  return "nothing was thrown";
}

/// The ids of all batches, a batch in brackets.
std::string ids_of(const data::Epochs& batches) {
  std::string text;
  for (const data::Batch& batch : batches) {
    text += '[';
    for (const std::int64_t id : batch["id"].as<std::int64_t>()) text += " " + std::to_string(id);
    text += " ]";
  }
  return text;
}

void double_ids(data::Batch& batch) {
  for (std::int64_t& id : batch["id"].as<std::int64_t>()) id *= 2;
}
HEADWAY_BATCH_FUNCTION(double_ids);

void name_columns_anew(data::Batch& batch) {
  std::vector<float> pairs;
  for (const std::int64_t id : batch["id"].as<std::int64_t>()) {
    pairs.insert(pairs.end(), {static_cast<float>(id), static_cast<float>(-id)});
  }
  batch.set("pair", std::move(pairs), {2});
  batch.drop("id");
}
HEADWAY_BATCH_FUNCTION(name_columns_anew);

void give_too_few(data::Batch& batch) { batch.set("few", std::vector<float>{1}); }
HEADWAY_BATCH_FUNCTION(give_too_few);

void fail_at_4(data::Batch& batch) {
  for (const std::int64_t id : batch["id"].as<std::int64_t>()) {
    if (id == 4) throw BadResult({ErrorKind::invalid_argument, "this is 4"});
  }
}
HEADWAY_BATCH_FUNCTION(fail_at_4);

void unregistered(data::Batch&) {}

/// An array of 4 rows of 3 float32 values from 0 on, as numpy writes it.
std::string npy() {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }";
  header += std::string(117 - header.size(), ' ') + "\n";
  std::string file = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
  for (int value = 0; value < 12; ++value) {
    const auto number = static_cast<float>(value);
    file.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return file;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(datasets_suite, Files)

BOOST_AUTO_TEST_CASE(rows_are_filtered_computed_and_cut_into_batches) {
  const data::Dataset rows =
      data::range(10).filter(col("id") % 2 == 0 || col("id").is_in({7})).with_column("half", col("id") / 4).limit(5);
  BOOST_TEST(rows.count() == 5);
  BOOST_TEST(ids_of(rows.batches({.batch_size = 2})) == "[ 0 2 ][ 4 6 ][ 7 ]");
  BOOST_TEST(ids_of(rows.batches({.batch_size = 2, .drop_last = true})) == "[ 0 2 ][ 4 6 ]");
  double sum = 0;
  for (const data::Batch& batch : rows.batches()) {
    for (const double half : batch["half"].as<double>()) sum += half;
  }
  BOOST_TEST(sum == 19 / 4.0);
}

BOOST_AUTO_TEST_CASE(columns_are_selected_dropped_and_renamed) {
  const std::string file = write("table.csv", "a,b,c\n1,x,2.5\n2,y,\n");
  const data::Dataset table = data::read_csv(file).rename_columns({{"a", "id"}});
  std::string names;
  for (const data::Field& field : table.schema()) names += field.name + ":" + field.type + " ";
  BOOST_TEST(names == "id:int64 b:string c:double ");
  BOOST_TEST(ids_of(table.drop_columns({"b"}).select_columns({"id"}).batches()) == "[ 1 2 ]");
  BOOST_TEST(message_of([&] { (void)table.rename_columns({{"a", "x"}}); }) ==
             "invalid_argument: names has \"a\"; allowed: columns of the data set: id, b, c");
}

BOOST_AUTO_TEST_CASE(a_kept_column_of_bools_keeps_its_nulls) {
  std::string rows;
  for (int row = 0; row < 4000; ++row) rows += row < 2000 ? "{\"flag\": null}\n" : "{\"flag\": true}\n";
  std::vector<data::Column> kept;
  for (const data::Batch& batch : data::read_json(write("flags.jsonl", rows)).batches({.batch_size = 500})) {
    kept.push_back(batch["flag"]);
  }
  BOOST_REQUIRE(kept.size() == 8U);
  for (std::size_t batch = 0; batch < kept.size(); ++batch) {
    for (std::int64_t row = 0; row < 500; ++row) BOOST_REQUIRE(kept[batch].is_null(row) == (batch < 4));
  }
}

BOOST_AUTO_TEST_CASE(rows_of_a_limit_are_not_shuffled) {
  const data::Dataset shuffled = data::range(10).limit(5).random_shuffle();
  BOOST_TEST(message_of([&] { (void)ids_of(shuffled.batches()); }).find("shuffle before limit()") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(columns_have_the_types_shapes_and_nulls_of_the_data) {
  const std::string file =
      write("table.jsonl",
            "{\"s\": {\"x\": 1}, \"flag\": true, \"text\": \"né\", \"list\": [1, 2], \"ragged\": [1.5]}\n"
            "{\"s\": {\"x\": 2}, \"flag\": null, \"text\": \"\", \"list\": [3, 4], \"ragged\": [2.5, 3.5]}\n"
            "{\"s\": {\"x\": 3}, \"flag\": true, \"text\": \"c\", \"list\": [5, 6], \"ragged\": []}\n");
  for (const data::Batch& batch : data::read_json(file).batches()) {
    const data::Column& flag = batch["flag"];
    BOOST_TEST(flag.null_count() == 1);
    BOOST_TEST((flag.is_null(1) && !flag.is_null(0)));
    BOOST_TEST((flag.as<bool>()[0] && flag.as<bool>()[2]));
    BOOST_TEST(batch["text"].text(0) == "né");
    BOOST_TEST(batch["text"].text(1) == "");
    BOOST_TEST(batch["text"].text(2) == "c");
    BOOST_TEST(batch["list"].shape() == (std::vector<std::int64_t>{3, 2}), boost::test_tools::per_element());
    BOOST_TEST(batch["list"].row<std::int64_t>(2)[1] == 6);
    BOOST_TEST(batch["ragged"].shape() == (std::vector<std::int64_t>{3}), boost::test_tools::per_element());
    BOOST_TEST(batch["ragged"].row<double>(1)[1] == 3.5);
    BOOST_TEST(batch["ragged"].row<double>(2).empty());
    BOOST_TEST(message_of([&] { (void)batch["s"].as<double>(); }).find("a program in C++ reads numbers") !=
               std::string::npos);
    BOOST_TEST(message_of([&] { (void)batch["text"].as<float>(); }) ==
               "invalid_argument: column \"text\" is of type string (data::DType::text); allowed: text(row)");
    BOOST_TEST(message_of([&] { (void)batch["list"].as<float>(); }).find("was asked for as float32") !=
               std::string::npos);
    BOOST_TEST(message_of([&] { (void)batch["none"]; }) ==
               "invalid_argument: there is no column \"none\"; the batch has s, flag, text, list, ragged");
  }
}

BOOST_AUTO_TEST_CASE(tensors_keep_their_memory_when_the_batch_is_gone) {
  const std::string file = write("array.npy", npy());
  std::vector<data::Column> kept;
  for (const data::Batch& batch : data::read_numpy(file).batches({.batch_size = 2})) kept.push_back(batch["data"]);
  BOOST_TEST_REQUIRE(kept.size() == 2U);
  BOOST_TEST(kept[1].shape() == (std::vector<std::int64_t>{2, 3}), boost::test_tools::per_element());
  BOOST_TEST((kept[1].dtype() == data::DType::float32));
  for (std::size_t value = 0; value < 6; ++value) {
    BOOST_TEST(kept[0].as<float>()[value] == static_cast<float>(value));
    BOOST_TEST(kept[1].as<float>()[value] == static_cast<float>(value + 6));
  }
}

BOOST_AUTO_TEST_CASE(functions_of_batches_are_called_in_their_order) {
  const data::Dataset doubled = data::range(3).map_batches(double_ids);
  BOOST_TEST(ids_of(doubled.batches()) == "[ 0 2 4 ]");
  for (const data::Batch& batch : doubled.map_batches(name_columns_anew).batches()) {
    BOOST_TEST(!batch.contains("id"));
    BOOST_TEST(batch["pair"].row<float>(2)[1] == -4);
  }
  BOOST_TEST(message_of([] { (void)ids_of(data::range(3).map_batches(give_too_few).batches()); }) ==
             "invalid_argument: values of column \"few\" are 1; allowed: 3, 1 for each of 3 rows");
}

BOOST_AUTO_TEST_CASE(an_iterator_resumes_at_the_next_row_and_each_loop_is_an_epoch) {
  const data::Dataset rows = data::range(6).random_shuffle({.seed = 3});
  data::DataIterator whole = rows.iterator();
  const std::string first = ids_of(whole.batches({.batch_size = 2}));
  const std::string second = ids_of(whole.batches({.batch_size = 2}));
  BOOST_TEST(first != second);

  data::DataIterator left = rows.iterator();
  Json state;
  std::string seen;
  for (const data::Batch& batch : left.batches({.batch_size = 2})) {
    for (const std::int64_t id : batch["id"].as<std::int64_t>())
      seen += (seen.empty() ? "[ " : " ") + std::to_string(id);
    state = left.state();
    break;
  }
  data::DataIterator resumed = rows.iterator();
  resumed.load_state(Json::parse(state.dump()).value());
  BOOST_TEST(seen + " ]" + ids_of(resumed.batches({.batch_size = 2})) == first);
  BOOST_TEST(ids_of(resumed.batches({.batch_size = 2})) == second);
  BOOST_TEST(ids_of(left.batches({.batch_size = 2})) == second);
  BOOST_TEST(message_of([&] { resumed.load_state({{"epoch", 1}}); }).starts_with("invalid_argument: state is "));
}

BOOST_AUTO_TEST_CASE(an_error_between_two_batches_is_not_the_end) {
  const data::Epochs batches = data::range(8).map_batches(fail_at_4).batches({.batch_size = 2});
  auto batch = batches.begin();
  ++batch;
  BOOST_TEST((*batch)["id"].as<std::int64_t>()[0] == 2);
  for (int time = 0; time < 2; ++time) {
    BOOST_TEST(message_of([&] { ++batch; }) == "invalid_argument: this is 4");
    BOOST_TEST(message_of([&] { (void)*batch; }) == "invalid_argument: this is 4");
    BOOST_TEST((batch != batches.end()));
  }
}

BOOST_AUTO_TEST_CASE(what_is_wrong_with_the_data_is_told_with_its_file) {
  const std::string file = write("bad.csv", "a,b\n1,2\n3\n");
  const std::string told = message_of([&] { (void)ids_of(data::read_csv(file).batches()); });
  BOOST_TEST_CONTEXT(told) { BOOST_TEST((told.find("bad.csv") != std::string::npos)); }
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named_before_anything_starts) {
  const std::string file = write("a.csv", "id\n1\n");
  const data::Dataset rows = data::range(3);
  const std::vector<std::pair<std::string, std::function<void()>>> calls = {
      {"rows is -1; allowed: 0 or more", [] { (void)data::range(-1); }},
      {"rows is -2; allowed", [&] { (void)rows.limit(-2); }},
      {"paths is \"\"; allowed: a path or a URL", [] { (void)data::read_csv(""); }},
      {"paths[1] is \"/none.csv\", which does not exist", [&] { (void)data::read_csv({file, "/none.csv"}); }},
      {"paths is empty", [] { (void)data::read_csv(std::vector<std::string>()); }},
      {"ReadOptions.columns is empty", [&] { (void)data::read_csv(file, {.columns = std::vector<std::string>()}); }},
      {"ReadOptions.shuffle.seed is 18446744073709551615",
       [&] { (void)data::read_csv(file, {.shuffle = data::ShuffleOptions{.seed = ~0ULL}}); }},
      {"CsvOptions.delimiter is the character 10", [&] { (void)data::read_csv(file, {}, {.delimiter = '\n'}); }},
      {"CsvOptions.skip_rows is -1", [&] { (void)data::read_csv(file, {}, {.skip_rows = -1}); }},
      {"ImageOptions.size is {0, 4}", [&] { (void)data::read_images(file, {}, {.size = {{0, 4}}}); }},
      {"columns is empty", [&] { (void)rows.select_columns({}); }},
      {"columns has \"id\" twice", [&] { (void)rows.drop_columns({"id", "id"}); }},
      {"name has \"\"", [&] { (void)rows.with_column("", 1); }},
      {"name is \"\"; allowed: a column's name", [] { (void)col(""); }},
      {"value is [1]; allowed: a number", [] { (void)data::lit(Json::array({1})); }},
      {"ShuffleOptions.seed is 18446744073709551615", [&] { (void)rows.random_shuffle({.seed = ~0ULL}); }},
      {"function of map_batches() is not registered", [&] { (void)rows.map_batches(unregistered); }},
      {"filter() comes behind map_batches()", [&] { (void)rows.map_batches(double_ids).filter(col("id") > 0); }},
      {"BatchOptions.batch_size is 0", [&] { (void)rows.batches({.batch_size = 0}); }},
      {"BatchOptions.prefetch_batches is -1", [&] { (void)rows.batches({.prefetch_batches = -1}); }},
      {"BatchOptions.local_shuffle_buffer_size is 8; allowed: together with a batch_size",
       [&] { (void)rows.batches({.batch_size = std::nullopt, .local_shuffle_buffer_size = 8}); }},
      {"BatchOptions.local_shuffle_seed is 18446744073709551615",
       [&] { (void)rows.batches({.local_shuffle_seed = ~0ULL}); }},
      {"headway::get_dataset_shard() was called outside of a training loop", [] { (void)get_dataset_shard(); }},
  };
  for (const auto& [words, call] : calls) {
    const std::string told = message_of(call);
    BOOST_TEST_CONTEXT("expected: " << words << "; found: " << told) {
      BOOST_TEST((told.find(words) != std::string::npos));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::library
