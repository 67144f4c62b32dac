#pragma once

#include "storage/remote/remote_checkpoint.hpp"

#include <optional>

/// What a place on a remote filesystem is to us.
namespace headway::storage::remote {

enum class Standing {
  nothing,
  committed,  ///< Its manifest is whole.
  begun,      ///< Our marker lies beside it, and its manifest is missing or not whole.
  foreign     ///< Something is there, and neither.
};
Result<Standing> standing_of(const Remote& checkpoint);

/// The path of `name` below `directory`.
std::string below(const std::string& directory, std::string_view name);
/// Where the marker of a checkpoint lies.
std::string marker_of(const std::string& checkpoint);
Result<bool> is_file(const Store& store, const std::string& path);

}  // namespace headway::storage::remote
