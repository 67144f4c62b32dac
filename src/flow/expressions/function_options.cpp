#include "flow/expressions/function_options.hpp"

#include "core/json_text.hpp"
#include "flow/expressions/literals.hpp"
#include "flow/expressions/type_names.hpp"

#include <arrow/compute/api_scalar.h>
#include <arrow/compute/cast.h>
#include <arrow/compute/function.h>
#include <arrow/compute/registry.h>
#include <arrow/scalar.h>

#include <boost/json.hpp>

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace headway::flow {
namespace {

namespace json = boost::json;
namespace cp = arrow::compute;

/// Takes options by name, and remembers the first that does not fit.
class OptionReader {
 public:
  OptionReader(const std::string& function, const json::object& options) : function_(function), options_(options) {}

  std::int64_t integer(const char* name, std::optional<std::int64_t> otherwise = {}) {
    const json::value* value = find(name, otherwise.has_value());
    if (value == nullptr) return otherwise.value_or(0);
    if (value->is_int64()) return value->get_int64();
    misfit(name, "an integer", *value);
    return 0;
  }

  double number(const char* name, double otherwise) {
    const json::value* value = find(name, true);
    if (value == nullptr) return otherwise;
    if (value->is_number()) return value->to_number<double>();
    misfit(name, "a number", *value);
    return 0;
  }

  std::string text(const char* name, const std::optional<std::string>& otherwise = {}) {
    const json::value* value = find(name, otherwise.has_value());
    if (value == nullptr) return otherwise.value_or("");
    if (value->is_string()) return std::string(value->get_string());
    misfit(name, "text", *value);
    return "";
  }

  bool flag(const char* name, bool otherwise) {
    const json::value* value = find(name, true);
    if (value == nullptr) return otherwise;
    if (value->is_bool()) return value->get_bool();
    misfit(name, "true or false", *value);
    return otherwise;
  }

  /// The value that a word stands for; the first of `choices` when it is not given.
  template <class T>
  T choice(const char* name, const std::vector<std::pair<const char*, T>>& choices) {
    const json::value* value = find(name, true);
    if (value == nullptr) return choices.front().second;
    std::string allowed;
    for (const auto& [word, meaning] : choices) {
      if (value->is_string() && value->get_string() == word) return meaning;
      allowed += (allowed.empty() ? "" : ", ") + std::string(word);
    }
    misfit(name, "one of " + allowed, *value);
    return choices.front().second;
  }

  /// Null when it is not given and may be missing.
  const json::value* find(const char* name, bool may_be_missing) {
    used_.insert(name);
    const json::value* value = options_.if_contains(name);
    if (value != nullptr && !value->is_null()) return value;
    if (!may_be_missing) fail(std::string("needs the option ") + name);
    return nullptr;
  }

  void fail(const std::string& why) {
    if (status_.ok()) status_ = arrow::Status::Invalid("the function ", function_, " ", why);
  }

  arrow::Status finish() {
    for (const auto& [name, value] : options_) {
      if (!used_.contains(std::string(name))) fail("has no option " + std::string(name));
    }
    return status_;
  }

 private:
  void misfit(const char* name, const std::string& allowed, const json::value& found) {
    fail(std::string("needs ") + allowed + " as its option " + name + "; found " + json_text(found));
  }

  const std::string& function_;
  const json::object& options_;
  std::set<std::string> used_;
  arrow::Status status_;
};

using Options = std::shared_ptr<cp::FunctionOptions>;
using Make = Options (*)(OptionReader&);

cp::RoundMode round_mode(OptionReader& options) {
  using enum cp::RoundMode;
  return options.choice<cp::RoundMode>("round_mode", {{"half_to_even", HALF_TO_EVEN},
                                                      {"down", DOWN},
                                                      {"up", UP},
                                                      {"towards_zero", TOWARDS_ZERO},
                                                      {"towards_infinity", TOWARDS_INFINITY},
                                                      {"half_down", HALF_DOWN},
                                                      {"half_up", HALF_UP},
                                                      {"half_towards_zero", HALF_TOWARDS_ZERO},
                                                      {"half_towards_infinity", HALF_TOWARDS_INFINITY},
                                                      {"half_to_odd", HALF_TO_ODD}});
}

arrow::TimeUnit::type time_unit(OptionReader& options) {
  using enum arrow::TimeUnit::type;
  return options.choice<arrow::TimeUnit::type>("unit", {{"us", MICRO}, {"s", SECOND}, {"ms", MILLI}, {"ns", NANO}});
}

cp::CalendarUnit calendar_unit(OptionReader& options) {
  using enum cp::CalendarUnit;
  return options.choice<cp::CalendarUnit>("unit", {{"day", DAY},
                                                   {"nanosecond", NANOSECOND},
                                                   {"microsecond", MICROSECOND},
                                                   {"millisecond", MILLISECOND},
                                                   {"second", SECOND},
                                                   {"minute", MINUTE},
                                                   {"hour", HOUR},
                                                   {"week", WEEK},
                                                   {"month", MONTH},
                                                   {"quarter", QUARTER},
                                                   {"year", YEAR}});
}

Options round_temporal(OptionReader& options) {
  const auto multiple = static_cast<int>(options.integer("multiple", 1));
  const cp::CalendarUnit unit = calendar_unit(options);
  const bool monday = options.flag("week_starts_monday", true);
  const bool greater = options.flag("ceil_is_strictly_greater", false);
  const bool from_origin = options.flag("calendar_based_origin", false);
  return std::make_shared<cp::RoundTemporalOptions>(multiple, unit, monday, greater, from_origin);
}

Options match(OptionReader& options) {
  const std::string pattern = options.text("pattern");
  return std::make_shared<cp::MatchSubstringOptions>(pattern, options.flag("ignore_case", false));
}

Options replace_substring(OptionReader& options) {
  const std::string pattern = options.text("pattern");
  const std::string replacement = options.text("replacement");
  return std::make_shared<cp::ReplaceSubstringOptions>(pattern, replacement, options.integer("max_replacements", -1));
}

Options replace_slice(OptionReader& options) {
  const std::int64_t start = options.integer("start");
  const std::int64_t stop = options.integer("stop");
  return std::make_shared<cp::ReplaceSliceOptions>(start, stop, options.text("replacement"));
}

Options split_pattern(OptionReader& options) {
  const std::string pattern = options.text("pattern");
  const std::int64_t splits = options.integer("max_splits", -1);
  return std::make_shared<cp::SplitPatternOptions>(pattern, splits, options.flag("reverse", false));
}

Options split(OptionReader& options) {
  const std::int64_t splits = options.integer("max_splits", -1);
  return std::make_shared<cp::SplitOptions>(splits, options.flag("reverse", false));
}

Options pad(OptionReader& options) {
  const std::int64_t width = options.integer("width");
  const std::string padding = options.text("padding", " ");
  return std::make_shared<cp::PadOptions>(width, padding, options.flag("lean_left_on_odd_padding", true));
}

Options slice(OptionReader& options) {
  const std::int64_t start = options.integer("start", 0);
  const std::int64_t stop = options.integer("stop", std::numeric_limits<std::int64_t>::max());
  return std::make_shared<cp::SliceOptions>(start, stop, options.integer("step", 1));
}

Options list_slice(OptionReader& options) {
  const std::int64_t start = options.integer("start", 0);
  std::optional<std::int64_t> stop;
  if (options.find("stop", true) != nullptr) stop = options.integer("stop");
  const std::int64_t step = options.integer("step", 1);
  std::optional<bool> fixed;
  if (options.find("return_fixed_size_list", true) != nullptr) fixed = options.flag("return_fixed_size_list", false);
  return std::make_shared<cp::ListSliceOptions>(start, stop, step, fixed);
}

/// `names`, or one `name`, of fields within fields; or `indices`.
Options struct_field(OptionReader& options) {
  if (options.find("name", true) != nullptr) {
    return std::make_shared<cp::StructFieldOptions>(arrow::FieldRef(options.text("name")));
  }
  const json::value* names = options.find("names", false);
  if (names == nullptr || !names->is_array() || names->get_array().empty()) {
    options.fail("needs a list of field names as its option names");
    return nullptr;
  }
  std::vector<arrow::FieldRef> path;
  for (const json::value& name : names->get_array()) {
    if (!name.is_string())
      options.fail("needs text in its option names; found " + json_text(name));
    else
      path.emplace_back(std::string(name.get_string()));
  }
  return std::make_shared<cp::StructFieldOptions>(arrow::FieldRef(std::move(path)));
}

Options make_struct(OptionReader& options) {
  std::vector<std::string> names;
  const json::value* given = options.find("field_names", false);
  if (given != nullptr && given->is_array()) {
    for (const json::value& name : given->get_array()) {
      if (name.is_string()) names.emplace_back(name.get_string());
    }
  }
  return std::make_shared<cp::MakeStructOptions>(std::move(names));
}

Options map_lookup(OptionReader& options) {
  const json::value* key = options.find("query_key", false);
  const auto occurrence =
      options.choice<cp::MapLookupOptions::Occurrence>("occurrence", {{"first", cp::MapLookupOptions::FIRST},
                                                                      {"last", cp::MapLookupOptions::LAST},
                                                                      {"all", cp::MapLookupOptions::ALL}});
  if (key == nullptr) return nullptr;
  auto scalar = scalar_of(*key);
  if (!scalar.ok()) options.fail(scalar.status().message());
  return scalar.ok() ? std::make_shared<cp::MapLookupOptions>(*scalar, occurrence) : nullptr;
}

Options strptime(OptionReader& options) {
  const std::string format = options.text("format");
  const arrow::TimeUnit::type unit = time_unit(options);
  return std::make_shared<cp::StrptimeOptions>(format, unit, options.flag("error_is_null", false));
}

Options strftime(OptionReader& options) {
  const std::string format = options.text("format", cp::StrftimeOptions::kDefaultFormat);
  return std::make_shared<cp::StrftimeOptions>(format, options.text("locale", "C"));
}

Options week(OptionReader& options) {
  const bool monday = options.flag("week_starts_monday", true);
  const bool from_zero = options.flag("count_from_zero", false);
  return std::make_shared<cp::WeekOptions>(monday, from_zero, options.flag("first_week_is_fully_in_year", false));
}

Options day_of_week(OptionReader& options) {
  const bool from_zero = options.flag("count_from_zero", true);
  return std::make_shared<cp::DayOfWeekOptions>(from_zero,
                                                static_cast<std::uint32_t>(options.integer("week_start", 1)));
}

Options timezone(OptionReader& options) {
  using Zone = cp::AssumeTimezoneOptions;
  const std::string name = options.text("timezone");
  const auto ambiguous = options.choice<Zone::Ambiguous>(
      "ambiguous",
      {{"raise", Zone::AMBIGUOUS_RAISE}, {"earliest", Zone::AMBIGUOUS_EARLIEST}, {"latest", Zone::AMBIGUOUS_LATEST}});
  const auto nonexistent = options.choice<Zone::Nonexistent>("nonexistent", {{"raise", Zone::NONEXISTENT_RAISE},
                                                                             {"earliest", Zone::NONEXISTENT_EARLIEST},
                                                                             {"latest", Zone::NONEXISTENT_LATEST}});
  return std::make_shared<Zone>(name, ambiguous, nonexistent);
}

Options join(OptionReader& options) {
  const auto handling =
      options.choice<cp::JoinOptions::NullHandlingBehavior>("null_handling", {{"emit_null", cp::JoinOptions::EMIT_NULL},
                                                                              {"skip", cp::JoinOptions::SKIP},
                                                                              {"replace", cp::JoinOptions::REPLACE}});
  return std::make_shared<cp::JoinOptions>(handling, options.text("null_replacement", ""));
}

Options normalize(OptionReader& options) {
  using Form = cp::Utf8NormalizeOptions;
  return std::make_shared<Form>(options.choice<Form::Form>(
      "form", {{"NFC", Form::NFC}, {"NFKC", Form::NFKC}, {"NFD", Form::NFD}, {"NFKD", Form::NFKD}}));
}

/// By the class that Arrow says a function takes.
const std::map<std::string, Make, std::less<>>& makers() {
  static const std::map<std::string, Make, std::less<>> table = {
      {"ElementWiseAggregateOptions",
       [](OptionReader& o) -> Options {
         return std::make_shared<cp::ElementWiseAggregateOptions>(o.flag("skip_nulls", true));
       }},
      {"RoundOptions",
       [](OptionReader& o) -> Options {
         const std::int64_t digits = o.integer("ndigits", 0);
         return std::make_shared<cp::RoundOptions>(digits, round_mode(o));
       }},
      {"RoundBinaryOptions",
       [](OptionReader& o) -> Options { return std::make_shared<cp::RoundBinaryOptions>(round_mode(o)); }},
      {"RoundToMultipleOptions",
       [](OptionReader& o) -> Options {
         const double multiple = o.number("multiple", 1);
         return std::make_shared<cp::RoundToMultipleOptions>(multiple, round_mode(o));
       }},
      {"RoundTemporalOptions", round_temporal},
      {"MatchSubstringOptions", match},
      {"ReplaceSubstringOptions", replace_substring},
      {"ReplaceSliceOptions", replace_slice},
      {"SplitPatternOptions", split_pattern},
      {"SplitOptions", split},
      {"ExtractRegexOptions",
       [](OptionReader& o) -> Options { return std::make_shared<cp::ExtractRegexOptions>(o.text("pattern")); }},
      {"PadOptions", pad},
      {"ZeroFillOptions",
       [](OptionReader& o) -> Options {
         const std::int64_t width = o.integer("width");
         return std::make_shared<cp::ZeroFillOptions>(width, o.text("padding", "0"));
       }},
      {"TrimOptions",
       [](OptionReader& o) -> Options { return std::make_shared<cp::TrimOptions>(o.text("characters")); }},
      {"SliceOptions", slice},
      {"ListSliceOptions", list_slice},
      {"StructFieldOptions", struct_field},
      {"MakeStructOptions", make_struct},
      {"MapLookupOptions", map_lookup},
      {"StrptimeOptions", strptime},
      {"StrftimeOptions", strftime},
      {"WeekOptions", week},
      {"DayOfWeekOptions", day_of_week},
      {"AssumeTimezoneOptions", timezone},
      {"NullOptions",
       [](OptionReader& o) -> Options { return std::make_shared<cp::NullOptions>(o.flag("nan_is_null", false)); }},
      {"JoinOptions", join},
      {"Utf8NormalizeOptions", normalize},
  };
  return table;
}

}  // namespace

arrow::Result<Options> options_of(const std::string& function, const json::object& options) {
  ARROW_ASSIGN_OR_RAISE(const auto found, cp::GetFunctionRegistry()->GetFunction(function));
  const std::string& kind = found->doc().options_class;
  const bool required = found->doc().options_required;
  if (options.empty() && !required) return nullptr;
  OptionReader reader(function, options);
  const auto maker = makers().find(kind);
  Options made;
  if (maker != makers().end()) made = maker->second(reader);
  ARROW_RETURN_NOT_OK(reader.finish());
  if (made == nullptr) {
    return arrow::Status::Invalid("the function ", function, " needs options that cannot be given here (", kind, ")");
  }
  return made;
}

}  // namespace headway::flow
