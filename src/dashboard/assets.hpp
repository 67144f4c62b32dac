#pragma once

#include <optional>
#include <string_view>

/// The page's files (`src/dashboard/page/`), which are a part of the program.
namespace headway::dashboard {

/// A hash over all of them. They are served at /assets/<version>/<path>.
std::string_view assets_version();

/// A file's bytes by its path in the folder, such as "index.html"; unset: there is none.
std::optional<std::string_view> find_asset(std::string_view path);

}  // namespace headway::dashboard
