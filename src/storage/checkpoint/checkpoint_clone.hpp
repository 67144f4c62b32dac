#pragma once

#include "core/manifest.hpp"

#include <string>

namespace headway::storage {

/// Makes a committed checkpoint one of another run, too.
/// Files that are never written again get a second name, where both runs are on one file system;
/// others are copied. From and to remote storage they come through this machine. Durable when this
/// returns without an error. `manifest` is the clone's; its files are taken from the source.
/// Errors: `not_found` when `source` is no committed checkpoint; `already_exists` when something is
/// at `target`; `corrupted` as copy_checkpoint, where one of them is remote; `unavailable`. After
/// an error nothing is left at `target`.
Result<void> clone_checkpoint(const std::string& source, const std::string& target, Manifest manifest);

}  // namespace headway::storage
