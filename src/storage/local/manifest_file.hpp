#pragma once

#include "core/manifest.hpp"

#include <string>

/// What a directory in a run is to us, and its manifest.
namespace headway::storage {

enum class Standing {
  committed,  ///< Has a manifest.
  begun,      ///< Has our marker and no manifest.
  foreign     ///< Neither, or no directory: not ours.
};

/// Symbolic links as the last part of the path are foreign.
Result<Standing> standing_of(const std::string& checkpoint_directory);

/// Writes the manifest durably: temporary name, fsync, rename, fsync of the directory and of its
/// parent.
Result<void> write_manifest(const std::string& checkpoint_directory, const Manifest& manifest);

/// Takes a checkpoint's directory away: renames it to one of our temporary names, so that it is
/// gone at once and whole, and then removes it. Should the process die in between, `sweep` finds
/// the rest by its name.
Result<void> discard(const std::string& checkpoint_directory);

/// Where `discard` renames a checkpoint to before it removes the files.
std::string removed_path(const std::string& checkpoint_directory);

}  // namespace headway::storage
