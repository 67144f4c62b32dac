#pragma once

#include "core/manifest.hpp"
#include "storage/progress.hpp"

#include <string>

namespace headway::storage {

/// Copies a committed checkpoint to another place, where it is one as well when this returns
/// without an error: durable, and with a separate manifest. Every file is compared with the
/// source's manifest on the way; where that has no checksums, the copy's manifest has.
/// With `as` the copy's manifest is that one, but for its files and its name.
/// Errors: `not_found` when `source` is no committed checkpoint; `already_exists` when something is
/// at `target`; `corrupted`, naming file, expected and found, and the newest good checkpoint, when
/// the source is damaged; `unavailable`. After an error nothing is left at `target`.
Result<Manifest> copy_checkpoint(const std::string& source, const std::string& target, const OnProgress& told = {},
                                 const Manifest* as = nullptr);

}  // namespace headway::storage
