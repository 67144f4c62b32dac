#include "control/metric_reduction.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace headway::control {
namespace {

bool is_number(const Json& value) { return value.is_number(); }

double as_double(const Json& number) { return number.to_number<double>(); }

/// Integers are compared exactly: a double holds them only up to 2^53.
bool is_less(const Json& a, const Json& b) {
  if (a.is_int64() && b.is_int64()) return a.get_int64() < b.get_int64();
  if (a.is_uint64() && b.is_uint64()) return a.get_uint64() < b.get_uint64();
  if (a.is_int64() && b.is_uint64()) return std::cmp_less(a.get_int64(), b.get_uint64());
  if (a.is_uint64() && b.is_int64()) return std::cmp_less(a.get_uint64(), b.get_int64());
  return as_double(a) < as_double(b);
}

/// Whether `a` is to be replaced by `b` as the smallest (or the largest) of the values so far.
bool is_beaten(const Json& a, const Json& b, Reduce how) {
  if (std::isnan(as_double(a))) return false;
  if (std::isnan(as_double(b))) return true;
  return how == Reduce::min ? is_less(b, a) : is_less(a, b);
}

/// Integers as long as all are some and nothing overflows.
Json sum_of(const std::vector<const Json*>& values) {
  std::int64_t whole = 0;
  double sum = 0;
  bool all_whole = true;
  for (const Json* value : values) {
    sum += as_double(*value);
    all_whole = all_whole && value->is_int64() && !__builtin_add_overflow(whole, value->get_int64(), &whole);
  }
  return all_whole ? Json(whole) : Json(sum);
}

/// The integer that all ranks have, such as an epoch's number, stays one.
Json mean_of(const std::vector<const Json*>& values) {
  const auto is_first = [&](const Json* value) { return value->is_int64() && *value == *values.front(); };
  if (std::all_of(values.begin(), values.end(), is_first)) return *values.front();
  double sum = 0;
  for (const Json* value : values) sum += as_double(*value);
  const auto count = static_cast<double>(values.size());
  if (std::isfinite(sum)) return sum / count;
  sum = 0;
  for (const Json* value : values) sum += as_double(*value) / count;
  return sum;  // Not finite only if a value is not.
}

Json combine(Reduce how, const std::vector<const Json*>& values) {
  if (how == Reduce::sum) return sum_of(values);
  if (how == Reduce::mean) return mean_of(values);
  const Json* best = values.front();
  for (const Json* value : values) {
    if (is_beaten(*best, *value, how)) best = value;
  }
  return *best;
}

/// The value under a key such as "eval/loss"; nullptr when there is none. A key that has the '/'
/// itself wins.
template <class Object>
auto find(Object& metrics, std::string_view key) -> decltype(metrics.if_contains(key)) {
  if (auto* own = metrics.if_contains(key)) return own;
  for (std::size_t slash = key.find('/'); slash != std::string_view::npos; slash = key.find('/', slash + 1)) {
    auto* above = metrics.if_contains(key.substr(0, slash));
    auto* object = above != nullptr ? above->if_object() : nullptr;
    auto* below = object != nullptr ? find(*object, key.substr(slash + 1)) : nullptr;
    if (below != nullptr) return below;
  }
  return nullptr;
}

void reduce_value(Json& value, Reduce how, std::string_view key, const std::vector<const JsonObject*>& ranks) {
  std::vector<const Json*> values;
  for (const JsonObject* metrics : ranks) {
    const Json* found = metrics != nullptr ? find(*metrics, key) : nullptr;
    if (found != nullptr && is_number(*found)) values.push_back(found);
  }
  value = combine(how, values);
}

/// Each number, also in objects: within one all ranks' objects of that name are looked at.
void reduce_all(JsonObject& metrics, Reduce how, const std::vector<const JsonObject*>& ranks) {
  for (auto& metric : metrics) {
    if (is_number(metric.value())) {
      reduce_value(metric.value(), how, metric.key(), ranks);
    } else if (JsonObject* nested = metric.value().if_object()) {
      std::vector<const JsonObject*> below;
      for (const JsonObject* rank : ranks) {
        const Json* found = rank != nullptr ? rank->if_contains(metric.key()) : nullptr;
        below.push_back(found != nullptr ? found->if_object() : nullptr);
      }
      reduce_all(*nested, how, below);
    }
  }
}

}  // namespace

ReducedMetrics reduce(const ReductionPlan& plan, const std::vector<const JsonObject*>& ranks) {
  ReducedMetrics reduced{*ranks.front(), {}};
  if (plan.all) reduce_all(reduced.metrics, *plan.all, ranks);
  for (const auto& [name, how] : plan.by_metric) {
    Json* own = find(reduced.metrics, name);
    if (own != nullptr && is_number(*own)) {
      reduce_value(*own, how, name, ranks);
    } else {
      reduced.unknown.push_back(name);
    }
  }
  return reduced;
}

}  // namespace headway::control
