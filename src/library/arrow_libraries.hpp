#pragma once

#include <string>

namespace headway::library {

/// To be called before storage is given a location: the first URL has it look for Arrow's libraries, and see to their end.
void prepare_location(const std::string& location);

}  // namespace headway::library
