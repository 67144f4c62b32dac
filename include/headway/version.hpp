#pragma once

#include <headway/export.hpp>

namespace headway {

/// The library's version, such as "0.1.0".
HEADWAY_API const char* version();

}  // namespace headway
