#include "control/tune/decision_words.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace headway::control::tune {
namespace {

std::string formatted(const char* format, double number) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

}  // namespace

std::string short_number(double number) { return formatted("%.4g", number); }

std::string ordinal(double number) {
  const std::string text = formatted("%.3g", number);
  const bool is_teen = text.size() > 1 && text[text.size() - 2] == '1';
  switch (is_teen ? '0' : text.back()) {
    case '1': return text + "st";
    case '2': return text + "nd";
    case '3': return text + "rd";
    default: return text + "th";
  }
}

std::string time_words(const std::string& time_attr, double time) {
  const bool whole = time == std::floor(time) && std::abs(time) < 1e15;
  return (time_attr == "training_iteration" ? "iteration" : time_attr) + " " +
         (whole ? formatted("%.0f", time) : short_number(time));
}

}  // namespace headway::control::tune
