#pragma once

#include "dashboard/experiment_record.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// Which trials a table shows, and in which order.
namespace headway::dashboard {

/// What a column has for a trial: nothing, a number or a text.
using Cell = std::variant<std::monostate, double, std::string>;

/// A column by its name: `id`, `name`, `state`, `why_ended`, `iterations`, `time_total_s`,
/// `config.NAME`, `last.NAME`, or a NAME of either without its prefix.
Cell cell_of(const ExperimentRecord& record, std::size_t trial, std::string_view column);

/// A filter: terms with blanks between, all of which must hold. `NAME<0.1`, `NAME>=1e-3`,
/// `NAME=adam`, `NAME!=x`, with NAME as above and values with blanks in double quotes; any other
/// word is looked for in name, state and reason, in any case.
class TrialFilter {
 public:
  /// Errors: `invalid_argument`.
  static Result<TrialFilter> parse(std::string_view text);

  bool holds(const ExperimentRecord& record, std::size_t trial) const;

 private:
  enum class Comparison { word, less, at_most, greater, at_least, equal, differs };
  struct Term {
    Comparison comparison = Comparison::word;
    std::string name;
    std::string value;
  };
  static Result<Term> term_of(const std::string& text);
  static bool compare(const Cell& cell, Comparison comparison, const std::string& value);

  std::vector<Term> terms_;
};

/// The trials that the filter lets through, sorted by a column; those without a value come last.
/// Without a column: in the order of their suggestion.
std::vector<std::size_t> sorted_trials(const ExperimentRecord& record, const TrialFilter& filter,
                                       const std::string& column, bool descending);

}  // namespace headway::dashboard
