#pragma once

#include <headway/checkpoint.hpp>

#include <string>
#include <utility>

namespace headway::library {

/// A committed checkpoint with its manifest; one that is gone meanwhile, or was never copied, by
/// its path alone.
inline Checkpoint open_or_name(const std::string& directory) {
  Result<Checkpoint> opened = Checkpoint::open(directory);
  return opened ? std::move(*opened) : Checkpoint::from_directory(directory);
}

}  // namespace headway::library
