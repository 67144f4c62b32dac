#include "dashboard/series.hpp"

#include "driver/flat_metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headway::dashboard {
namespace {

constexpr const char* pace = "time_this_iter_s";
constexpr double unset = std::numeric_limits<double>::quiet_NaN();

double number_of(const JsonObject& line, std::string_view name) {
  const Json* value = line.if_contains(name);
  return value != nullptr && value->is_number() ? value->to_number<double>() : unset;
}

JsonArray list_of(const std::vector<double>& values) {
  JsonArray list;
  list.reserve(values.size());
  for (const double value : values) {
    if (std::isfinite(value)) {
      list.emplace_back(value);
    } else {
      list.emplace_back(nullptr);
    }
  }
  return list;
}

}  // namespace

bool is_automatic_metric(std::string_view name) {
  constexpr std::array<std::string_view, 15> names{"training_iteration",
                                                   "iterations_since_restore",
                                                   pace,
                                                   "time_total_s",
                                                   "time_since_restore",
                                                   "timestamp",
                                                   "date",
                                                   "pid",
                                                   "hostname",
                                                   "node_ip",
                                                   "trial_id",
                                                   "done",
                                                   "attempt",
                                                   "report_index",
                                                   "checkpoint_dir_name"};
  return std::ranges::find(names, name) != names.end();
}

double Series::time_of_line(const JsonObject& line) {
  const double stamp = number_of(line, "timestamp");
  const double total = number_of(line, "time_total_s");
  const double since_restore = number_of(line, "time_since_restore");
  if (std::isnan(total) || std::isnan(since_restore)) return std::isnan(stamp) ? last_time_ : stamp;
  if (!base_unix_s_ || since_restore < last_since_restore_s_) {
    base_unix_s_ = std::isnan(stamp) ? last_time_ : stamp;
    base_total_s_ = total;
  }
  last_since_restore_s_ = since_restore;
  return *base_unix_s_ + total - base_total_s_;
}

void Series::add(const JsonObject& line) {
  ++reports_;
  double step = number_of(line, "training_iteration");
  if (std::isnan(step)) step = static_cast<double>(reports_);
  last_time_ = std::max(last_time_, time_of_line(line));
  if (const Json* attempt = line.if_contains("attempt"); attempt != nullptr && attempt->is_int64()) {
    last_steps_[attempt->get_int64()] = step;
  }
  if (const Json* name = line.if_contains("checkpoint_dir_name"); name != nullptr && name->is_string()) {
    checkpoint_steps_[std::string(name->get_string())] = step;
  }
  for (const auto& [name, value] : driver::flat_metrics(line)) {
    if (!value->is_number()) continue;
    const bool own = is_automatic_metric(name);
    if (!own || name == pace) put(name, own, step, last_time_, value->to_number<double>());
  }
}

void Series::put(const std::string& name, bool own, double step, double time, double value) {
  auto found = columns_.find(name);
  if (found == columns_.end()) {
    if (columns_.size() == metrics_max) return;
    found = columns_.emplace(name, Column{own, {}, {}, {}}).first;
    order_.push_back(name);
  }
  Column& column = found->second;
  column.step.push_back(column.step.empty() ? step : std::max(step, column.step.back()));
  column.time.push_back(time);
  column.value.push_back(value);
  if (column.value.size() >= points_max_) thin(column);
}

/// Of each four points the least and the greatest stay, in their order.
void Series::thin(Column& column) {
  std::size_t kept = 0;
  for (std::size_t begin = 0; begin < column.value.size(); begin += 4) {
    const std::size_t end = std::min(begin + 4, column.value.size());
    std::size_t least = begin;
    std::size_t greatest = begin;
    for (std::size_t place = begin; place < end; ++place) {
      if (!(column.value[place] >= column.value[least])) least = place;
      if (column.value[place] >= column.value[greatest]) greatest = place;
    }
    for (const std::size_t place : {std::min(least, greatest), std::max(least, greatest)}) {
      column.step[kept] = column.step[place];
      column.time[kept] = column.time[place];
      column.value[kept] = column.value[place];
      ++kept;
      if (least == greatest) break;
    }
  }
  column.step.resize(kept);
  column.time.resize(kept);
  column.value.resize(kept);
}

std::vector<std::string> Series::names() const {
  std::vector<std::string> names = order_;
  std::ranges::stable_partition(names, [this](const std::string& name) { return !columns_.at(name).own; });
  return names;
}

std::optional<Buckets> Series::buckets(const std::string& metric, Axis axis, std::optional<double> from,
                                       std::optional<double> to, std::size_t points) const {
  const auto found = columns_.find(metric);
  if (found == columns_.end()) return std::nullopt;
  const std::vector<double>& x = axis == Axis::step ? found->second.step : found->second.time;
  const std::vector<double>& value = found->second.value;
  const double least = from.value_or(x.front());
  const double greatest = to.value_or(x.back());
  std::size_t place = static_cast<std::size_t>(std::ranges::lower_bound(x, least) - x.begin());
  const std::size_t end = static_cast<std::size_t>(std::ranges::upper_bound(x, greatest) - x.begin());
  Buckets buckets;
  const double width = (greatest - least) / static_cast<double>(std::max<std::size_t>(1, points));
  const bool each = end <= place || end - place <= points || !(width > 0);
  while (place < end) {
    const double bucket = each ? 0 : std::floor((x[place] - least) / width);
    double low = unset;
    double high = unset;
    double last = unset;
    do {
      last = value[place];
      if (std::isfinite(last)) {
        low = std::isnan(low) ? last : std::min(low, last);
        high = std::isnan(high) ? last : std::max(high, last);
      }
      ++place;
    } while (place < end && !each && std::floor((x[place] - least) / width) == bucket);
    buckets.x.push_back(x[place - 1]);
    buckets.min.push_back(low);
    buckets.max.push_back(high);
    buckets.last.push_back(last);
  }
  return buckets;
}

std::optional<double> Series::last_step_of(std::int64_t attempt) const {
  if (last_steps_.empty()) return std::nullopt;
  const auto after = last_steps_.upper_bound(attempt);
  return after == last_steps_.begin() ? 0 : std::prev(after)->second;
}

std::optional<double> Series::step_of_checkpoint(const std::string& name) const {
  const auto found = checkpoint_steps_.find(name);
  return found == checkpoint_steps_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> Series::step_at(double unix_s) const {
  for (const std::string& name : order_) {
    const Column& column = columns_.at(name);
    const auto after = std::ranges::upper_bound(column.time, unix_s) - column.time.begin();
    return after == 0 ? 0 : column.step[static_cast<std::size_t>(after) - 1];
  }
  return std::nullopt;
}

JsonObject json_of(const Buckets& buckets) {
  JsonObject object;
  object["x"] = list_of(buckets.x);
  object["min"] = list_of(buckets.min);
  object["max"] = list_of(buckets.max);
  object["last"] = list_of(buckets.last);
  return object;
}

}  // namespace headway::dashboard
