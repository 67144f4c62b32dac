#pragma once

#include <string_view>

namespace headway {

/// The lock file of a directory lies beside it, under its name with this at the end.
inline constexpr std::string_view lock_suffix = ".lock";

}  // namespace headway
