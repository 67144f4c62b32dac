#pragma once

#include "core/manifest.hpp"
#include "storage/progress.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headway::storage {

/// A file that is not what was written.
struct Damage {
  std::string file;      ///< Where it is: a path or a URL.
  std::string expected;  ///< "10 bytes", "checksum xxh3:0123456789abcdef".
  std::string found;     ///< "4 bytes", "no such file", "checksum xxh3:…".
};
BOOST_DESCRIBE_STRUCT(Damage, (), (file, expected, found))

/// "<file> is damaged: expected <…>, found <…>".
std::string to_text(const Damage& damage);

/// What reading a checkpoint whole has shown.
struct Verification {
  std::string checkpoint;  ///< Its location.
  std::uint64_t files = 0;
  /// As the manifest says; a checkpoint with an unreadable manifest has none.
  std::uint64_t bytes = 0;
  std::uint64_t unchecked = 0;  ///< Files that were recorded without a checksum.
  std::vector<Damage> damaged;
};
BOOST_DESCRIBE_STRUCT(Verification, (), (checkpoint, files, bytes, unchecked, damaged))

/// Reads every file of a checkpoint and compares size and checksum with the manifest. A file that
/// was recorded without a checksum, and the metadata file, which may be written later, need only be
/// there. A manifest that is cut or no manifest is damage too.
/// Errors: `not_found` when there is no committed checkpoint; `invalid_argument` when a newer
/// version of Headway wrote it; `unavailable` when something could not be read for another reason.
Result<Verification> examine(const std::string& checkpoint, const OnProgress& told = {});

/// What is wrong with files of `checkpoint` that were read or copied whole, by the records of what
/// was found.
std::vector<Damage> compare(const std::string& checkpoint, const Manifest& manifest,
                            const std::vector<FileRecord>& found);

/// The newest checkpoint of a run that is whole, found by reading them, newest first. Errors: as
/// `list_checkpoints`.
Result<std::optional<Manifest>> newest_good(const std::string& run_directory);

/// As `read_manifest`; the error about a damaged one comes with the newest good checkpoint of the
/// same run.
Result<Manifest> read_manifest_or_offer(const std::string& checkpoint);

/// The error about a damaged checkpoint, with the newest good one of the same run to resume from.
Error damage_error(const std::string& checkpoint, const Damage& damage);

}  // namespace headway::storage
