#pragma once

#include <string>

/// Parts of the sentences that say why a trial has ended.
namespace headway::control::tune {

/// Four digits: "0.5712".
std::string short_number(double number);

/// "75th", "66.7th".
std::string ordinal(double number);

/// "iteration 4"; of other attributes of time "time_total_s 4".
std::string time_words(const std::string& time_attr, double time);

}  // namespace headway::control::tune
