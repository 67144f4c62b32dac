#include "flow/sources/partitions.hpp"

#include "core/location.hpp"
#include "flow/expressions/type_names.hpp"

#include <arrow/array/util.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include <boost/json.hpp>

#include <algorithm>
#include <map>

namespace headway::flow {
namespace {

using Values = std::vector<std::pair<std::string, std::optional<std::string>>>;

struct Partitioning {
  bool hive = true;
  std::string base;
  std::vector<std::string> names;
  std::map<std::string, std::shared_ptr<arrow::DataType>> types;
};

arrow::Result<std::optional<Partitioning>> partitioning_of(const OptionView& options) {
  const boost::json::value* given = options.find("partitioning");
  if (given == nullptr) return std::nullopt;
  Partitioning made;
  if (given->is_string() && given->get_string() == "hive") return made;
  if (!given->is_object()) return options.misfit("partitioning", "\"hive\" or an object with style");
  const OptionView inner(given->get_object(), "partitioning");
  ARROW_ASSIGN_OR_RAISE(const std::string style, inner.text("style", "hive"));
  if (style != "hive" && style != "dir") return inner.misfit("style", "hive or dir");
  made.hive = style == "hive";
  ARROW_ASSIGN_OR_RAISE(made.base, inner.text("base_dir", ""));
  ARROW_ASSIGN_OR_RAISE(const auto names, inner.texts("field_names"));
  if (names) made.names = *names;
  if (!made.hive && made.names.empty()) return inner.misfit("field_names", "needed for the style dir");
  ARROW_ASSIGN_OR_RAISE(const OptionView types, inner.object("field_types"));
  for (const auto& [name, type] : types.all()) {
    if (!type.is_string()) return inner.misfit("field_types", "an object of type names");
    ARROW_ASSIGN_OR_RAISE(made.types[std::string(name)], type_of_name(type.get_string()));
  }
  return made;
}

std::string unescaped_value(std::string_view text) {
  const auto digit = [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0 ? c - '0' : (c | 32) - 'a' + 10;
  };
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool escape = text[at] == '%' && at + 2 < text.size() &&
                        std::isxdigit(static_cast<unsigned char>(text[at + 1])) != 0 &&
                        std::isxdigit(static_cast<unsigned char>(text[at + 2])) != 0;
    plain += escape ? static_cast<char>(digit(text[at + 1]) * 16 + digit(text[at + 2])) : text[at];
    if (escape) at += 2;
  }
  return plain;
}

/// The folders of a file below `base`.
std::vector<std::string> folders_of(const std::string& location, const std::string& base) {
  std::string path = is_remote(location) ? location.substr(0, location.find('?')) : location;
  const std::size_t at = base.empty() ? std::string::npos : path.find(base);
  if (at != std::string::npos) path = path.substr(at + base.size());
  std::vector<std::string> folders;
  std::size_t begin = 0;
  for (std::size_t end = path.find('/'); end != std::string::npos; end = path.find('/', begin)) {
    if (end > begin) folders.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

arrow::Result<Values> values_of(const std::string& location, const Partitioning& how) {
  const std::vector<std::string> folders = folders_of(location, how.base);
  Values values;
  if (!how.hive) {
    if (folders.size() != how.names.size()) {
      return arrow::Status::Invalid("the path ", shown_location(location), " has ", folders.size(),
                                    " folders below base_dir, and ", how.names.size(), " field_names are given");
    }
    for (std::size_t i = 0; i < folders.size(); ++i) values.emplace_back(how.names[i], unescaped_value(folders[i]));
    return values;
  }
  for (const std::string& folder : folders) {
    const std::size_t equals = folder.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    std::optional<std::string> value = unescaped_value(std::string_view(folder).substr(equals + 1));
    if (*value == "__HIVE_DEFAULT_PARTITION__") value.reset();
    values.emplace_back(unescaped_value(folder.substr(0, equals)), std::move(value));
  }
  return values;
}

std::string names_in(const Values& values) {
  std::string names;
  for (const auto& [name, value] : values) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

}  // namespace

arrow::Status find_partitions(const OptionView& options, FoundFiles& found) {
  ARROW_ASSIGN_OR_RAISE(const auto how, partitioning_of(options));
  if (!how) return arrow::Status::OK();
  Values first;
  for (SourceFile& file : found.files) {
    ARROW_ASSIGN_OR_RAISE(Values values, values_of(std::string(users_path(file.location)), *how));
    if (&file == &found.files.front()) first = values;
    const bool same = std::equal(values.begin(), values.end(), first.begin(), first.end(),
                                 [](const auto& a, const auto& b) { return a.first == b.first; });
    if (!same) {
      return arrow::Status::Invalid("the path ", shown_location(file.location), " has the partition fields ",
                                    names_in(values), ", and ", shown_location(found.files.front().location), " has ",
                                    names_in(first));
    }
    for (auto& [name, value] : values) file.partition_values.push_back(std::move(value));
  }
  for (const auto& [name, value] : first) {
    const auto type = how->types.find(name);
    found.partition_fields.push_back(arrow::field(name, type == how->types.end() ? arrow::utf8() : type->second));
  }
  return arrow::Status::OK();
}

arrow::Result<std::shared_ptr<arrow::Array>> partition_column(const arrow::Field& field,
                                                              const std::optional<std::string>& value,
                                                              std::int64_t rows, arrow::MemoryPool* pool) {
  if (!value) return arrow::MakeArrayOfNull(field.type(), rows, pool);
  const auto scalar = arrow::Scalar::Parse(field.type(), *value);
  if (!scalar.ok()) {
    return arrow::Status::Invalid("the partition field ", field.name(), " has the value ", *value, ", which is no ",
                                  field.type()->ToString());
  }
  return arrow::MakeArrayFromScalar(**scalar, rows, pool);
}

}  // namespace headway::flow
