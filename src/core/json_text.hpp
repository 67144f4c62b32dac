#pragma once

#include <headway/result.hpp>

#include <boost/json/value.hpp>

#include <string>
#include <string_view>

/// JSON text both ways, as core/json.hpp describes it. Apart from it because the public API has
/// another `Json`: what implements that can't see core's.
namespace headway {

/// Text to value. Errors: `corrupted`, naming the offset and what `subject` it was read from.
Result<boost::json::value> parse_json(std::string_view text, std::string_view subject);

/// Value to one line of text, with `NaN`, `Infinity` and `-Infinity` as Python's json writes them.
std::string json_text(const boost::json::value& value);

}  // namespace headway
