#include "flow/sources/read_options.hpp"

#include "core/json_text.hpp"

#include <boost/json.hpp>

namespace headway::flow {

namespace json = boost::json;

const json::value* OptionView::find(const char* name) const {
  const json::value* value = options_->if_contains(name);
  return value != nullptr && !value->is_null() ? value : nullptr;
}

arrow::Status OptionView::misfit(const char* name, const char* allowed) const {
  const json::value* value = find(name);
  return arrow::Status::Invalid("the option ", name, " of the format ", format_, " is ", allowed, "; found ",
                                value == nullptr ? "nothing" : json_text(*value));
}

arrow::Result<bool> OptionView::flag(const char* name, bool otherwise) const {
  const json::value* value = find(name);
  if (value == nullptr) return otherwise;
  if (value->is_bool()) return value->get_bool();
  return misfit(name, "true or false");
}

arrow::Result<std::int64_t> OptionView::integer(const char* name, std::int64_t otherwise) const {
  const json::value* value = find(name);
  if (value == nullptr) return otherwise;
  if (value->is_int64()) return value->get_int64();
  return misfit(name, "an integer");
}

arrow::Result<std::string> OptionView::text(const char* name, const std::string& otherwise) const {
  const json::value* value = find(name);
  if (value == nullptr) return otherwise;
  if (value->is_string()) return std::string(value->get_string());
  return misfit(name, "text");
}

arrow::Result<char> OptionView::character(const char* name, char otherwise) const {
  ARROW_ASSIGN_OR_RAISE(const std::string value, text(name, std::string(1, otherwise)));
  if (value.size() == 1) return value.front();
  return misfit(name, "one character of ASCII");
}

arrow::Result<std::optional<std::vector<std::string>>> OptionView::texts(const char* name) const {
  const json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  std::vector<std::string> all;
  if (value->is_string())
    all.emplace_back(value->get_string());
  else if (!value->is_array())
    return misfit(name, "a list of text");
  else {
    for (const json::value& each : value->get_array()) {
      if (!each.is_string()) return misfit(name, "a list of text");
      all.emplace_back(each.get_string());
    }
  }
  return all;
}

arrow::Result<std::optional<std::vector<std::int64_t>>> OptionView::integers(const char* name) const {
  const json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) return misfit(name, "a list of integers");
  std::vector<std::int64_t> all;
  for (const json::value& each : value->get_array()) {
    if (!each.is_int64()) return misfit(name, "a list of integers");
    all.push_back(each.get_int64());
  }
  return all;
}

arrow::Result<OptionView> OptionView::object(const char* name) const {
  static const json::object none;
  const json::value* value = find(name);
  if (value == nullptr) return OptionView(none, format_);
  if (value->is_object()) return OptionView(value->get_object(), format_);
  return misfit(name, "an object");
}

}  // namespace headway::flow
