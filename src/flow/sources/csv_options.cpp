#include "flow/sources/csv_options.hpp"

#include "flow/expressions/type_names.hpp"
#include "flow/sources/read_options.hpp"

#include <arrow/type.h>

#include <boost/json.hpp>

namespace headway::flow {
namespace {

arrow::Status set_read(const OptionView& given, arrow::csv::ReadOptions& read) {
  ARROW_ASSIGN_OR_RAISE(const auto names, given.texts("column_names"));
  if (names) read.column_names = *names;
  ARROW_ASSIGN_OR_RAISE(read.autogenerate_column_names, given.flag("autogenerate_column_names", false));
  ARROW_ASSIGN_OR_RAISE(const std::int64_t skipped, given.integer("skip_rows", 0));
  ARROW_ASSIGN_OR_RAISE(const std::int64_t skipped_after, given.integer("skip_rows_after_names", 0));
  read.skip_rows = static_cast<std::int32_t>(skipped);
  read.skip_rows_after_names = static_cast<std::int32_t>(skipped_after);
  ARROW_ASSIGN_OR_RAISE(const std::string encoding, given.text("encoding", "utf8"));
  if (encoding != "utf8" && encoding != "utf-8") return given.misfit("encoding", "utf8: convert the files before");
  read.use_threads = false;
  return read.Validate();
}

/// A character, or false for none.
arrow::Status set_character(const OptionView& given, const char* name, bool& used, char& character) {
  const boost::json::value* value = given.find(name);
  if (value != nullptr && value->is_bool()) {
    used = value->get_bool();
    return used ? given.misfit(name, "a character or false") : arrow::Status::OK();
  }
  if (value != nullptr) used = true;
  return given.character(name, character).Value(&character);
}

arrow::Status set_parse(const OptionView& given, arrow::csv::ParseOptions& parse) {
  ARROW_ASSIGN_OR_RAISE(parse.delimiter, given.character("delimiter", ','));
  ARROW_RETURN_NOT_OK(set_character(given, "quote_char", parse.quoting, parse.quote_char));
  ARROW_RETURN_NOT_OK(set_character(given, "escape_char", parse.escaping, parse.escape_char));
  ARROW_ASSIGN_OR_RAISE(parse.double_quote, given.flag("double_quote", true));
  ARROW_ASSIGN_OR_RAISE(parse.newlines_in_values, given.flag("newlines_in_values", false));
  ARROW_ASSIGN_OR_RAISE(parse.ignore_empty_lines, given.flag("ignore_empty_lines", true));
  return parse.Validate();
}

arrow::Status set_convert(const OptionView& given, arrow::csv::ConvertOptions& convert) {
  ARROW_ASSIGN_OR_RAISE(const OptionView types, given.object("column_types"));
  for (const auto& [name, type] : types.all()) {
    if (!type.is_string()) return given.misfit("column_types", "an object of type names");
    ARROW_ASSIGN_OR_RAISE(convert.column_types[std::string(name)], type_of_name(type.get_string()));
  }
  const auto set_words = [&](const char* name, std::vector<std::string>& words) -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(const auto found, given.texts(name));
    if (found) words = *found;
    return arrow::Status::OK();
  };
  ARROW_RETURN_NOT_OK(set_words("null_values", convert.null_values));
  ARROW_RETURN_NOT_OK(set_words("true_values", convert.true_values));
  ARROW_RETURN_NOT_OK(set_words("false_values", convert.false_values));
  ARROW_ASSIGN_OR_RAISE(convert.strings_can_be_null, given.flag("strings_can_be_null", false));
  ARROW_ASSIGN_OR_RAISE(convert.quoted_strings_can_be_null, given.flag("quoted_strings_can_be_null", true));
  ARROW_ASSIGN_OR_RAISE(convert.decimal_point, given.character("decimal_point", '.'));
  ARROW_ASSIGN_OR_RAISE(convert.check_utf8, given.flag("check_utf8", true));
  return convert.Validate();
}

}  // namespace

arrow::Result<CsvOptions> csv_options(const data::ReadNode& read) {
  CsvOptions made{.read = arrow::csv::ReadOptions::Defaults(),
                  .parse = arrow::csv::ParseOptions::Defaults(),
                  .convert = arrow::csv::ConvertOptions::Defaults()};
  const OptionView options(read.options, read.format);
  ARROW_RETURN_NOT_OK(set_read(options, made.read));
  ARROW_RETURN_NOT_OK(set_parse(options, made.parse));
  ARROW_RETURN_NOT_OK(set_convert(options, made.convert));
  return made;
}

}  // namespace headway::flow
