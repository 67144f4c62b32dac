#pragma once

#include "driver/runtime.hpp"
#include "library/init_options.hpp"

#include <string>

namespace headway::library {

/// `config` with what the options say. Makes the token's file where nodes can join and there is
/// none. Errors: `invalid_argument`, `unavailable`.
Result<driver::RuntimeConfig> with_options(driver::RuntimeConfig config, const StartOptions& options);

/// What an agent must prove to have: the content of a file that its owner alone may read. Errors:
/// `invalid_argument`, which names `argument`.
Result<std::string> read_token(const std::string& argument, const std::string& path);

/// Where it is, when nobody says so.
std::string default_token_file();

}  // namespace headway::library
