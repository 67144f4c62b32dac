#include "library/batch_functions.hpp"

#include <headway/data/dataset.hpp>

#include <algorithm>

namespace headway {
namespace library {
namespace {

struct Registered {
  std::string name;
  data::BatchFunction function;
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

Result<void> check_batch_function_names() {
  const std::vector<Registered>& functions = registered();
  for (auto each = functions.begin(); each != functions.end(); ++each) {
    const bool twice =
        std::any_of(functions.begin(), each, [&](const Registered& other) { return other.name == each->name; });
    if (twice) {
      return Error{ErrorKind::invalid_argument,
                   "HEADWAY_BATCH_FUNCTION names two functions \"" + each->name +
                       "\"; allowed: a name once in a program (HEADWAY_BATCH_FUNCTION(mine::scale); outside of a "
                       "namespace tells them apart)"};
    }
  }
  return {};
}

Result<std::string> name_of(data::BatchFunction function) {
  for (const Registered& each : registered()) {
    if (each.function == function) return each.name;
  }
  return Error{ErrorKind::invalid_argument,
               "function of map_batches() is not registered; write HEADWAY_BATCH_FUNCTION(its name); at namespace "
               "scope, after the function (registered: " +
                   names() + ")"};
}

void call_batch_functions(const std::vector<std::string>& called, data::Batch& batch) {
  for (const std::string& name : called) {
    const auto found = std::ranges::find(registered(), name, &Registered::name);
    if (found == registered().end()) {
      throw BadResult({ErrorKind::invalid_argument,
                       "this program has no batch function \"" + name + "\" (registered: " + names() + ")"});
    }
    found->function(batch);
  }
}

}  // namespace library

namespace data {

RegisteredBatchFunction::RegisteredBatchFunction(const char* name, BatchFunction function) {
  library::registered().push_back({name, function});
}

}  // namespace data
}  // namespace headway
