#pragma once

#include <headway/result.hpp>

#include <string>
#include <string_view>

namespace headway::node {

/// What `py-spy dump --json` printed, as lines for the user: each thread's name and its frames, the
/// innermost first. Left out are Headway's own frames that called the user's function, its native
/// ones, and the import machinery's. At most 6 threads (the main one first) of 40 frames. Errors:
/// `corrupted` when it is no such text.
Result<std::string> stack_text(std::string_view printed);

/// The module that the main thread imports, by the same text: "torch._dynamo", or a script's name.
/// Empty: none.
std::string module_imported(std::string_view printed);

}  // namespace headway::node
