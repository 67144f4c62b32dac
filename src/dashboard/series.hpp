#pragma once

#include "core/json.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway::dashboard {

/// What a metric is drawn over.
enum class Axis { step, time };

/// Points of a curve, as many as are visible: the least, the greatest and the last value of each
/// part of the axis. So a spike is seen, however many points lie beside it.
struct Buckets {
  std::vector<double> x;  ///< Of the last point of each part.
  std::vector<double> min;
  std::vector<double> max;
  std::vector<double> last;
};

/// A run's metrics over its reports. Values are kept as they were reported, up to `points_max` a
/// metric; beyond, older ones are thinned so that their extremes stay.
class Series {
 public:
  static constexpr std::size_t metrics_max = 512;

  explicit Series(std::size_t points_max = std::size_t{1} << 21) : points_max_(points_max) {}

  /// A line of result.json.
  void add(const JsonObject& line);
  void clear() { *this = Series(points_max_); }

  /// The user's metrics that were numbers, in the order of their first report; then Headway's.
  std::vector<std::string> names() const;
  /// Unset: nobody reported such a metric. `from` and `to`: of the axis; unset: all.
  std::optional<Buckets> buckets(const std::string& metric, Axis axis, std::optional<double> from,
                                 std::optional<double> to, std::size_t points) const;
  /// The number of the last report at a moment.
  std::optional<double> step_at(double unix_s) const;
  /// The last report of an attempt, or of those before it when it has none. Unset: no line says
  /// which attempt it is of.
  std::optional<double> last_step_of(std::int64_t attempt) const;
  /// The report that came with a checkpoint.
  std::optional<double> step_of_checkpoint(const std::string& name) const;
  std::size_t reports() const { return reports_; }

 private:
  struct Column {
    bool own = false;  ///< Headway's, beside the user's.
    std::vector<double> step;
    std::vector<double> time;
    std::vector<double> value;
  };

  double time_of_line(const JsonObject& line);
  void put(const std::string& name, bool own, double step, double time, double value);
  static void thin(Column& column);

  std::size_t points_max_;
  std::map<std::string, Column> columns_;
  std::vector<std::string> order_;
  std::size_t reports_ = 0;
  std::map<std::int64_t, double> last_steps_;  ///< By attempt.
  std::map<std::string, double> checkpoint_steps_;
  // The clock of lines has whole seconds; that of the run is finer, and begins anew with a driver.
  std::optional<double> base_unix_s_;
  double base_total_s_ = 0;
  double last_since_restore_s_ = 0;
  double last_time_ = 0;
};

/// Whether Headway puts it into lines beside the user's metrics.
bool is_automatic_metric(std::string_view name);

/// {x, min, max, last}: what is no finite number is null.
JsonObject json_of(const Buckets& buckets);

}  // namespace headway::dashboard
