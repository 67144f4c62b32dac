#include "library/validations.hpp"

#include <headway/validation.hpp>

#include "library/committed_checkpoint.hpp"
#include "library/loop_names.hpp"
#include "library/text_check.hpp"

#include <algorithm>
#include <vector>

namespace headway {
namespace library {
namespace {

struct Registered {
  std::string name;
  ValidationFunction function;
};

/// Made on first use: functions are registered while static objects are made, in no known order.
std::vector<Registered>& registered() {
  static std::vector<Registered> functions;
  return functions;
}

std::string names() {
  std::string text;
  for (const Registered& each : registered()) text += (text.empty() ? "" : ", ") + each.name;
  return text.empty() ? "none" : text;
}

}  // namespace

Result<void> check_validation_names() {
  const std::vector<Registered>& functions = registered();
  for (auto each = functions.begin(); each != functions.end(); ++each) {
    const bool twice =
        std::any_of(functions.begin(), each, [&](const Registered& other) { return other.name == each->name; });
    if (twice) {
      return Error{ErrorKind::invalid_argument,
                   "HEADWAY_VALIDATION names two functions \"" + each->name +
                       "\"; allowed: a name once in a program (HEADWAY_VALIDATION(mine::validate); outside of a "
                       "namespace tells them apart)"};
    }
  }
  return {};
}

Result<std::string> name_of(const ValidationFunction& function) {
  for (const Registered& each : registered()) {
    if (each.function == function) return each.name;
  }
  return Error{ErrorKind::invalid_argument,
               "ValidationConfig.function is not registered; write HEADWAY_VALIDATION(its name); at namespace scope, "
               "after the function (registered: " +
                   names() + ")"};
}

std::string call_validation(const std::string& name, const std::string& checkpoint, const std::string& arguments_json) {
  for (const Registered& each : registered()) {
    if (each.name != name) continue;
    const Checkpoint given = open_or_name(checkpoint);
    const Json returned = each.function.plain != nullptr
                              ? each.function.plain(given)
                              : each.function.with_arguments(given, Json::parse(arguments_json).value());
    check_text("the return value", returned).value();
    return returned.dump();
  }
  throw BadResult({ErrorKind::invalid_argument,
                   "this program has no validation function \"" + name + "\" (registered: " + names() + ")"});
}

}  // namespace library

RegisteredValidation::RegisteredValidation(const char* name, ValidationFunction function) {
  library::registered().push_back({name, function});
}

}  // namespace headway
