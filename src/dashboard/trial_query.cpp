#include "dashboard/trial_query.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>

namespace headway::dashboard {
namespace {

namespace tune = control::tune;

std::string in_lower_case(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

std::optional<double> number_in(const std::string& text) {
  double value = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

Cell cell_in(const Json* value) {
  if (value == nullptr || value->is_null()) return {};
  if (value->is_number()) return value->to_number<double>();
  if (value->is_string()) return std::string(value->get_string());
  return json_text(*value);
}

Cell last_of(const tune::Trial& trial, std::string_view name) {
  const auto found = trial.last.find(std::string(name));
  if (found == trial.last.end()) return {};
  return found->second;
}

}  // namespace

Cell cell_of(const ExperimentRecord& record, std::size_t number, std::string_view column) {
  const tune::Trial& trial = record.trials()[number];
  const TrialRecord& more = record.of(number);
  constexpr std::string_view of_config = "config.";
  constexpr std::string_view of_last = "last.";
  if (column == "id") return trial.trial_id;
  if (column == "name") return trial.folder;
  if (column == "state") return std::string(boost::describe::enum_to_string(trial.state, ""));
  if (column == "why_ended") return trial.reason;
  if (column == "iterations") return static_cast<double>(trial.reports);
  if (column == "time_total_s") {
    if (!more.started_unix_s) return {};
    return more.ended_unix_s.value_or(record.last_unix_s()) - *more.started_unix_s;
  }
  if (column.starts_with(of_config)) return cell_in(more.config.if_contains(column.substr(of_config.size())));
  if (column.starts_with(of_last)) return last_of(trial, column.substr(of_last.size()));
  if (const Json* value = more.config.if_contains(column)) return cell_in(value);
  return last_of(trial, column);
}

Result<TrialFilter::Term> TrialFilter::term_of(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, Comparison>, 6> signs{{{"<=", Comparison::at_most},
                                                                          {">=", Comparison::at_least},
                                                                          {"!=", Comparison::differs},
                                                                          {"<", Comparison::less},
                                                                          {">", Comparison::greater},
                                                                          {"=", Comparison::equal}}};
  const std::size_t place = text.find_first_of("<>=!");
  if (place == std::string::npos) return Term{Comparison::word, "", in_lower_case(text)};
  for (const auto& [sign, comparison] : signs) {
    if (!std::string_view(text).substr(place).starts_with(sign)) continue;
    Term term{comparison, text.substr(0, place), text.substr(place + sign.size())};
    const bool is_number = number_in(term.value).has_value();
    const bool needs_number = comparison != Comparison::equal && comparison != Comparison::differs;
    if (!term.name.empty() && !term.value.empty() && (is_number || !needs_number)) return term;
  }
  return Error{ErrorKind::invalid_argument, "filter has '" + text.substr(0, 60) +
                                                "'; allowed: words, and NAME<NUMBER, NAME>=NUMBER, NAME=VALUE, " +
                                                "NAME!=VALUE"};
}

Result<TrialFilter> TrialFilter::parse(std::string_view text) {
  TrialFilter filter;
  std::string word;
  bool quoted = false;
  const auto end_word = [&]() -> Result<void> {
    if (word.empty()) return {};
    Result<Term> term = term_of(std::exchange(word, ""));
    if (!term) return term.error();
    filter.terms_.push_back(std::move(*term));
    return {};
  };
  for (const char letter : text) {
    if (letter == '"') {
      quoted = !quoted;
    } else if (letter == ' ' && !quoted) {
      if (Result<void> ended = end_word(); !ended) return ended.error();
    } else {
      word += letter;
    }
  }
  if (quoted) return Error{ErrorKind::invalid_argument, "filter has a '\"' without its end"};
  if (Result<void> ended = end_word(); !ended) return ended.error();
  return filter;
}

bool TrialFilter::compare(const Cell& cell, Comparison comparison, const std::string& value) {
  if (std::holds_alternative<std::monostate>(cell)) return comparison == Comparison::differs;
  const std::optional<double> wanted = number_in(value);
  if (const double* number = std::get_if<double>(&cell); number != nullptr && wanted) {
    switch (comparison) {
      case Comparison::less: return *number < *wanted;
      case Comparison::at_most: return *number <= *wanted;
      case Comparison::greater: return *number > *wanted;
      case Comparison::at_least: return *number >= *wanted;
      case Comparison::equal: return *number == *wanted;
      default: return *number != *wanted;
    }
  }
  const std::string* text = std::get_if<std::string>(&cell);
  if (comparison == Comparison::equal) return text != nullptr && in_lower_case(*text) == in_lower_case(value);
  if (comparison == Comparison::differs) return text == nullptr || in_lower_case(*text) != in_lower_case(value);
  return false;
}

bool TrialFilter::holds(const ExperimentRecord& record, std::size_t trial) const {
  return std::ranges::all_of(terms_, [&](const Term& term) {
    if (term.comparison != Comparison::word) {
      return compare(cell_of(record, trial, term.name), term.comparison, term.value);
    }
    for (const char* column : {"id", "name", "state", "why_ended"}) {
      const Cell cell = cell_of(record, trial, column);
      const std::string* text = std::get_if<std::string>(&cell);
      if (text != nullptr && in_lower_case(*text).find(term.value) != std::string::npos) return true;
    }
    return false;
  });
}

std::vector<std::size_t> sorted_trials(const ExperimentRecord& record, const TrialFilter& filter,
                                       const std::string& column, bool descending) {
  std::vector<std::size_t> shown;
  for (std::size_t trial = 0; trial < record.trials().size(); ++trial) {
    if (filter.holds(record, trial)) shown.push_back(trial);
  }
  if (column.empty()) {
    if (descending) std::ranges::reverse(shown);
    return shown;
  }
  std::vector<Cell> cells(record.trials().size());
  for (const std::size_t trial : shown) {
    cells[trial] = cell_of(record, trial, column);
    const double* number = std::get_if<double>(&cells[trial]);
    if (number != nullptr && std::isnan(*number)) cells[trial] = {};
  }
  std::ranges::stable_sort(shown, [&](std::size_t one, std::size_t other) {
    const bool one_lacks = std::holds_alternative<std::monostate>(cells[one]);
    const bool other_lacks = std::holds_alternative<std::monostate>(cells[other]);
    if (one_lacks || other_lacks) return !one_lacks && other_lacks;
    return descending ? cells[other] < cells[one] : cells[one] < cells[other];
  });
  return shown;
}

}  // namespace headway::dashboard
