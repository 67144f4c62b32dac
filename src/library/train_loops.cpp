#include "library/train_loops.hpp"

#include "library/loop_names.hpp"
#include "library/text_check.hpp"

#include <algorithm>
#include <vector>

namespace headway {
namespace library {
namespace {

struct Registered {
  std::string name;
  TrainLoop loop;
};

/// Made on first use: loops are registered while static objects are made, in no known order.
std::vector<Registered>& registered() {
  static std::vector<Registered> loops;
  return loops;
}

std::string names() {
  std::string text;
  for (const Registered& each : registered()) text += (text.empty() ? "" : ", ") + each.name;
  return text.empty() ? "none" : text;
}

Json call(const TrainLoop& loop, const Json& config) {
  if (loop.with_config_and_value != nullptr) return loop.with_config_and_value(config);
  if (loop.with_value != nullptr) return loop.with_value();
  if (loop.with_config != nullptr) {
    loop.with_config(config);
  } else {
    loop.plain();
  }
  return {};
}

}  // namespace

Result<void> check_loop_names() {
  const std::vector<Registered>& loops = registered();
  for (auto each = loops.begin(); each != loops.end(); ++each) {
    const bool twice =
        std::any_of(loops.begin(), each, [&](const Registered& other) { return other.name == each->name; });
    if (twice) {
      return Error{ErrorKind::invalid_argument,
                   "HEADWAY_TRAIN_LOOP names two loops \"" + each->name +
                       "\"; allowed: a name once in a program (HEADWAY_TRAIN_LOOP(mine::train); outside of a namespace "
                       "tells them apart)"};
    }
  }
  return {};
}

Result<std::string> name_of(const TrainLoop& loop) {
  for (const Registered& each : registered()) {
    if (each.loop == loop) return each.name;
  }
  return Error{
      ErrorKind::invalid_argument,
      "Trainer's loop is not registered; write HEADWAY_TRAIN_LOOP(its name); at namespace scope, after the function "
      "(registered: " +
          names() + ")"};
}

std::string call_loop(const std::string& name, const std::string& config_json) {
  for (const Registered& each : registered()) {
    if (each.name != name) continue;
    const Json returned = call(each.loop, Json::parse(config_json).value());
    check_text("the return value", returned).value();
    return returned.dump();
  }
  throw BadResult({ErrorKind::invalid_argument,
                   "this program has no training loop \"" + name + "\" (registered: " + names() + ")"});
}

}  // namespace library

RegisteredLoop::RegisteredLoop(const char* name, TrainLoop loop) { library::registered().push_back({name, loop}); }

}  // namespace headway
