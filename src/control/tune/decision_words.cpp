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
  if (text.find('.') != std::string::npos) return text + "th";
  const int whole = static_cast<int>(std::lround(number));
  if (whole % 100 >= 11 && whole % 100 <= 13) return text + "th";
  switch (whole % 10) {
    case 1: return text + "st";
    case 2: return text + "nd";
    case 3: return text + "rd";
    default: return text + "th";
  }
}

std::string time_words(const std::string& time_attr, double time) {
  const bool whole = time == std::floor(time) && std::abs(time) < 1e15;
  return (time_attr == "training_iteration" ? "iteration" : time_attr) + " " +
         (whole ? formatted("%.0f", time) : short_number(time));
}

}  // namespace headway::control::tune
