#pragma once

#include <filesystem>
#include <string>

namespace headway::library {

/// The folder that libheadway.so lies in.
std::filesystem::path own_folder();

/// The folder of an installed pyarrow: what the environment says, or beside the package that this
/// library lies in.
std::filesystem::path pyarrow_folder();

/// Looks for Arrow's libraries, once in a process, and sees to their end. What says where they are
/// may be a relative path.
void find_arrow();

/// To be called before storage is given a location: the first URL has `find_arrow` called.
void prepare_location(const std::string& location);

}  // namespace headway::library
