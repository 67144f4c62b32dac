#include "flow/expressions/evaluator.hpp"

#include "core/json.hpp"
#include "flow/arrow_values.hpp"

#include <arrow/extension/fixed_shape_tensor.h>

#include <boost/test/unit_test.hpp>

#include <set>

namespace headway::flow {
namespace {

data::Expression expression_of(const std::string& text) {
  const Result<data::Expression> made = from_json_text<data::Expression>(text, "an expression");
  if (!made) BOOST_FAIL(made.error().message);
  return *made;
}

std::string column_text(const std::string& name) { return R"({"column": ")" + name + "\"}"; }
std::string call_text(const std::string& name, const std::string& args, const std::string& options = "{}") {
  return R"({"call": ")" + name + R"(", "args": [)" + args + R"(], "options": )" + options + "}";
}
std::string literal_text(const std::string& value) { return R"({"literal": )" + value + "}"; }

std::shared_ptr<arrow::RecordBatch> people() {
  return batch_of(
      {{"a", array_of_text(arrow::int64(), "[7, -7, null, 6]")},
       {"b", array_of_text(arrow::int32(), "[2, 2, 2, -4]")},
       {"x", array_of_text(arrow::float64(), "[7.5, -7.5, 0.0, null]")},
       {"name", array_of_text(arrow::utf8(), R"(["Ada", "grace", null, " Mary "])")},
       {"day", array_of_text(arrow::timestamp(arrow::TimeUnit::SECOND),
                             R"(["2026-11-22 23:20:00", "2024-02-29 00:00:00", null, "1970-01-01 00:00:00"])")},
       {"list", array_of_text(arrow::list(arrow::int64()), "[[3, 1, 2], [], null, [null, 5]]")},
       {"place", array_of_text(arrow::struct_({arrow::field("city", arrow::utf8())}),
                               R"([{"city": "Rome"}, {"city": "Oslo"}, null, {"city": null}])")},
       {"tags",
        array_of_text(arrow::map(arrow::utf8(), arrow::int64()), R"([[["k", 1]], [], null, [["l", 2], ["m", 3]]])")}});
}

std::shared_ptr<arrow::Array> value_of(const std::string& expression, const RowPlace& place = {}) {
  const Evaluator evaluator = must(Evaluator::compile(expression_of(expression)));
  const auto batch = people();
  const auto type = must(evaluator.type(*batch->schema()));
  auto values = must(evaluator.evaluate(*batch, place, arrow::default_memory_pool()));
  BOOST_TEST(values->type()->ToString() == type->ToString());
  return values;
}

std::string error_in(const std::string& expression) {
  const auto evaluator = Evaluator::compile(expression_of(expression));
  if (!evaluator.ok()) return evaluator.status().message();
  return error_of(evaluator->evaluate(*people(), {}, arrow::default_memory_pool()));
}

void check_value(const std::string& expression, const std::shared_ptr<arrow::DataType>& type,
                 const std::string& expected) {
  const auto found = value_of(expression);
  BOOST_TEST(found->Equals(*array_of_text(type, expected)), expression << " gave " << found->ToString());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(an_expression)

BOOST_AUTO_TEST_CASE(computes_with_columns_and_literals) {
  check_value(call_text("add", column_text("a") + "," + literal_text("5")), arrow::int64(), "[12, -2, null, 11]");
  check_value(call_text("multiply", column_text("x") + "," + column_text("b")), arrow::float64(),
              "[15.0, -15.0, 0.0, null]");
  check_value(call_text("greater", column_text("a") + "," + literal_text("6")), arrow::boolean(),
              "[true, false, null, false]");
  check_value(call_text("and_kleene", call_text("is_null", column_text("a")) + "," + literal_text("true")),
              arrow::boolean(), "[false, false, true, false]");
  check_value(call_text("round", column_text("x"), R"({"ndigits": 0, "round_mode": "half_to_even"})"), arrow::float64(),
              "[8.0, -8.0, 0.0, null]");
  check_value(literal_text("3"), arrow::int64(), "[3, 3, 3, 3]");
  check_value(R"({"literal": "2026-11-22", "type": "date32[day]"})", arrow::date32(), "[20779, 20779, 20779, 20779]");
}

BOOST_AUTO_TEST_CASE(divides_as_python_does) {
  check_value(call_text("floor_divide", column_text("a") + "," + column_text("b")), arrow::int64(),
              "[3, -4, null, -2]");
  check_value(call_text("modulo", column_text("a") + "," + column_text("b")), arrow::int64(), "[1, 1, null, -2]");
  check_value(call_text("floor_divide", column_text("x") + "," + literal_text("2")), arrow::float64(),
              "[3.0, -4.0, 0.0, null]");
  check_value(call_text("modulo", column_text("x") + "," + literal_text("2")), arrow::float64(),
              "[1.5, 0.5, 0.0, null]");
  check_value(call_text("true_divide", column_text("a") + "," + column_text("b")), arrow::float64(),
              "[3.5, -3.5, null, -1.5]");
  BOOST_TEST(
      contains(error_in(call_text("floor_divide", column_text("a") + "," + literal_text("0"))), "divide by zero"));
}

BOOST_AUTO_TEST_CASE(gives_the_rest_of_decimals_without_more_digits_than_there_are) {
  const auto decimals = [](const std::string& of, const char* type) {
    return call_text("cast", of, R"({"type": ")" + std::string(type) + "\"}");
  };
  const std::string tenths = decimals(column_text("x"), "decimal128(10, 2)");
  check_value(call_text("modulo", tenths + "," + literal_text("1")), arrow::decimal128(22, 2),
              R"(["0.50", "0.50", "0.00", null])");
  check_value(call_text("modulo", column_text("a") + "," + decimals(literal_text("-2"), "decimal128(38, 0)")),
              arrow::decimal128(38, 0), R"(["-1", "-1", null, "0"])");
  check_value(call_text("modulo", decimals(literal_text("7.0"), "decimal128(3, 1)") + "," + literal_text("4")),
              arrow::decimal128(21, 1), R"(["3.0", "3.0", "3.0", "3.0"])");
  BOOST_TEST(contains(error_in(call_text("modulo", tenths + "," + literal_text("0"))), "ivision by 0"));
}

BOOST_AUTO_TEST_CASE(looks_values_up_and_casts_them) {
  check_value(call_text("is_in", column_text("a"), R"({"values": [7, 6]})"), arrow::boolean(),
              "[true, false, false, true]");
  check_value(call_text("not_in", column_text("name"), R"({"values": ["Ada", null]})"), arrow::boolean(),
              "[false, true, false, true]");
  check_value(call_text("cast", column_text("b"), R"({"type": "string"})"), arrow::utf8(), R"(["2", "2", "2", "-4"])");
  check_value(call_text("cast", column_text("x"), R"({"type": "int32", "safe": false})"), arrow::int32(),
              "[7, -7, 0, null]");
  const std::string unsafe = error_in(call_text("cast", column_text("x"), R"({"type": "int32"})"));
  BOOST_TEST(contains(unsafe, "column x has type double"), unsafe);
}

BOOST_AUTO_TEST_CASE(works_on_text_times_lists_structs_and_maps) {
  check_value(call_text("utf8_upper", call_text("utf8_trim_whitespace", column_text("name"))), arrow::utf8(),
              R"(["ADA", "GRACE", null, "MARY"])");
  check_value(call_text("match_substring", column_text("name"), R"({"pattern": "a", "ignore_case": true})"),
              arrow::boolean(), "[true, true, null, true]");
  check_value(call_text("utf8_slice_codeunits", column_text("name"), R"({"start": 0, "stop": 2})"), arrow::utf8(),
              R"(["Ad", "gr", null, " M"])");
  check_value(call_text("year", column_text("day")), arrow::int64(), "[2026, 2024, null, 1970]");
  check_value(call_text("strftime", column_text("day"), R"({"format": "%Y/%m"})"), arrow::utf8(),
              R"(["2026/11", "2024/02", null, "1970/01"])");
  check_value(call_text("list_value_length", column_text("list")), arrow::int32(), "[3, 0, null, 2]");
  check_value(call_text("list_sort", column_text("list")), arrow::list(arrow::int64()),
              "[[1, 2, 3], [], null, [5, null]]");
  check_value(call_text("list_sort", column_text("list"), R"({"descending": true, "nulls_last": false})"),
              arrow::list(arrow::int64()), "[[3, 2, 1], [], null, [null, 5]]");
  check_value(call_text("struct_field", column_text("place"), R"({"name": "city"})"), arrow::utf8(),
              R"(["Rome", "Oslo", null, null])");
  check_value(call_text("map_keys", column_text("tags")), arrow::list(arrow::utf8()),
              R"([["k"], [], null, ["l", "m"]])");
  check_value(call_text("map_values", column_text("tags")), arrow::list(arrow::int64()), "[[1], [], null, [2, 3]]");
}

BOOST_AUTO_TEST_CASE(joins_lists_of_lists_in_a_slice) {
  const auto nested =
      array_of_text(arrow::list(arrow::list(arrow::int8())), "[[[9]], [[1, 2], [3]], [], null, [[4], null, [5, 6]]]");
  const auto batch = batch_of({{"n", nested->Slice(1)}});
  const Evaluator join = must(Evaluator::compile(expression_of(call_text("list_join", column_text("n")))));
  const auto joined = must(join.evaluate(*batch, {}, arrow::default_memory_pool()));
  BOOST_TEST(joined->Equals(*array_of_text(arrow::list(arrow::int8()), "[[1, 2, 3], [], null, [4, 5, 6]]")),
             joined->ToString());
  const auto none = batch->Slice(0, 0);
  BOOST_TEST(must(join.evaluate(*none, {}, arrow::default_memory_pool()))->length() == 0);
}

BOOST_AUTO_TEST_CASE(makes_random_values_of_seed_epoch_unit_and_row_alone) {
  const RowPlace place{.seed = 1, .epoch = 2, .unit = 3, .first_row = 0};
  RowPlace later = place;
  later.first_row = 2;
  RowPlace next_epoch = place;
  next_epoch.epoch = 3;
  for (const char* name : {"random", "uuid"}) {
    const auto values = value_of(call_text(name, ""), place);
    BOOST_TEST(values->Equals(*value_of(call_text(name, ""), place)));
    BOOST_TEST(values->Slice(2)->Equals(*value_of(call_text(name, ""), later)->Slice(0, 2)));
    BOOST_TEST(!values->Equals(*value_of(call_text(name, ""), next_epoch)));
  }
  const auto numbers = std::static_pointer_cast<arrow::DoubleArray>(value_of(call_text("random", ""), place));
  for (std::int64_t i = 0; i < numbers->length(); ++i) BOOST_TEST((numbers->Value(i) >= 0 && numbers->Value(i) < 1));
  const auto of_five = [](const RowPlace& at) { return value_of(call_text("random", "", R"({"seed": 5})"), at); };
  BOOST_TEST(!numbers->Equals(*of_five(place)));
  RowPlace other_seed = place;
  other_seed.seed = 9;
  BOOST_TEST(of_five(place)->Equals(*of_five(other_seed)));
  const auto texts = std::static_pointer_cast<arrow::StringArray>(value_of(call_text("uuid", ""), place));
  std::set<std::string> different;
  for (std::int64_t i = 0; i < texts->length(); ++i) {
    different.insert(texts->GetString(i));
    BOOST_TEST(texts->GetString(i).size() == 36U);
    BOOST_TEST(texts->GetString(i)[14] == '4');
  }
  BOOST_TEST(different.size() == 4U);
  check_value(call_text("monotonically_increasing_id", ""), arrow::int64(), "[0, 1, 2, 3]");
  BOOST_TEST(value_of(call_text("monotonically_increasing_id", ""), later)
                 ->Equals(*array_of_text(arrow::int64(), "[25769803778, 25769803779, 25769803780, 25769803781]")));
}

BOOST_AUTO_TEST_CASE(fails_in_words_that_name_columns_and_types) {
  const std::string type = error_in(call_text("add", column_text("name") + "," + column_text("a")));
  BOOST_TEST(contains(type, "column a has type int64, column name has type string"), type);
  const std::string column_words = error_in(call_text("negate", column_text("c")));
  BOOST_TEST(contains(column_words, "there is no column c; the columns are a, b, x"), column_words);
  BOOST_TEST(contains(error_in(call_text("plus", column_text("a"))), "there is no function plus"));
  BOOST_TEST(contains(error_in(call_text("add", column_text("a"))), "takes 2 arguments; found 1"));
  BOOST_TEST(contains(error_in(call_text("unique", column_text("a"))), "does not make one value of each row"));
  BOOST_TEST(contains(error_in(call_text("match_substring", column_text("name"))), "needs the option pattern"));
  BOOST_TEST(contains(error_in(call_text("round", column_text("x"), R"({"digits": 1})")), "has no option digits"));
  BOOST_TEST(contains(error_in(call_text("random", "", R"({"speed": 1})")), "has no option speed"));
  BOOST_TEST(contains(error_in(call_text("cast", column_text("a"), R"({"type": "int23"})")), "type int23 is unknown"));
  BOOST_TEST(contains(error_in(R"({"literal": "soon", "type": "date32[day]"})"), "\"soon\" is no date32[day]"));
}

BOOST_AUTO_TEST_CASE(filters_and_projects_rows_with_tensors_among_them) {
  const auto storage = array_of_text(arrow::fixed_size_list(arrow::int8(), 2), "[[1, 2], [3, 4], [5, 6], [7, 8]]");
  const auto tensor = arrow::extension::fixed_shape_tensor(arrow::int8(), {2});
  auto batch = batch_of({{"a", array_of_text(arrow::int64(), "[1, 2, null, 4]")},
                         {"t", arrow::ExtensionType::WrapArray(tensor, storage)}});
  const Evaluator where =
      must(Evaluator::compile(expression_of(call_text("greater", column_text("a") + "," + literal_text("1")))));
  batch = must(filter_rows(batch, where, {}, arrow::default_memory_pool()));
  BOOST_TEST(batch->num_rows() == 2);
  BOOST_TEST(batch->column(1)->type()->Equals(*tensor));
  const auto columns = must(compile_all(
      {{"a", expression_of(call_text("negate", column_text("a")))}, {"c", expression_of(column_text("a"))}}));
  const auto kept = must(project_rows(batch, columns, true, {}, arrow::default_memory_pool()));
  BOOST_TEST(kept->schema()->field_names() == (std::vector<std::string>{"a", "t", "c"}),
             boost::test_tools::per_element());
  BOOST_TEST(kept->column(0)->Equals(*array_of_text(arrow::int64(), "[-2, -4]")));
  BOOST_TEST(kept->column(2)->Equals(*array_of_text(arrow::int64(), "[2, 4]")));
  const auto alone = must(project_rows(batch, columns, false, {}, arrow::default_memory_pool()));
  BOOST_TEST(alone->num_columns() == 2);
  const auto not_bool = must(Evaluator::compile(expression_of(column_text("a"))));
  BOOST_TEST(contains(error_of(filter_rows(batch, not_bool, {}, arrow::default_memory_pool())), "found type int64"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
