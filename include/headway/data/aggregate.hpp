#pragma once

#include <headway/export.hpp>
#include <headway/json.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace headway::data {

/// One value of many rows, for `Dataset::aggregate` and `GroupedData::aggregate`. The functions of
/// `headway::data::aggregate` make them.
///
///     namespace aggregate = headway::data::aggregate;
///     trips.groupby({"city"}).aggregate({aggregate::mean("price"), aggregate::count().as("trips")});
class HEADWAY_API Aggregate {
 public:
  /// The result's column; by default one such as "mean(price)". Throws `BadResult`
  /// (`invalid_argument`) for an empty name.
  Aggregate as(const std::string& name) const;
  /// Whether missing values are left out. If not, a number is missing where a value is, a count
  /// includes missing values, and a list has them.
  Aggregate ignore_nulls(bool ignored) const;

  const std::string& name() const { return name_; }
  /// As the plan of a data set has it.
  Json json() const;

 private:
  Aggregate(const char* function, Json on, bool ignore_nulls, Json options);
  friend struct Aggregates;

  std::string function_;
  Json on_;
  std::string name_;
  bool ignore_nulls_;
  Json options_;
};

/// Missing values are left out, unless `ignore_nulls(false)`. All throw `BadResult`
/// (`invalid_argument`) for an empty name.
namespace aggregate {

/// How many rows there are: "count()".
HEADWAY_API Aggregate count();
/// How many values a column has, missing ones too unless `ignore_nulls(true)`.
HEADWAY_API Aggregate count(const std::string& column);
/// How many different values a column has.
HEADWAY_API Aggregate count_distinct(const std::string& column);
HEADWAY_API Aggregate sum(const std::string& column);
HEADWAY_API Aggregate min(const std::string& column);
HEADWAY_API Aggregate max(const std::string& column);
HEADWAY_API Aggregate mean(const std::string& column);
/// The standard deviation, "std(x)"; `ddof` is subtracted from the number of values in the divisor.
HEADWAY_API Aggregate standard_deviation(const std::string& column, std::int64_t ddof = 1);
/// The greatest absolute value.
HEADWAY_API Aggregate abs_max(const std::string& column);
/// The value that the part `q`, from 0 to 1, of the values does not exceed.
HEADWAY_API Aggregate quantile(const std::string& column, double q = 0.5);
/// The different values as a list, from the least to the greatest.
HEADWAY_API Aggregate unique(const std::string& column);
/// All values as a list, in the order of the rows.
HEADWAY_API Aggregate as_list(const std::string& column);

}  // namespace aggregate
}  // namespace headway::data
