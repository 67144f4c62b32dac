#pragma once

#include "storage/checkpoint/verification.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

/// verified.json in a run's folder: which checkpoints were read whole, and what that has shown. For
/// those who look at the run; nothing is decided by it.
namespace headway::storage {

inline constexpr const char* verified_file = "verified.json";

struct VerifiedNote {
  double at_unix_s = 0;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  std::string damage;  ///< The first; empty: it is good.
};
BOOST_DESCRIBE_STRUCT(VerifiedNote, (), (at_unix_s, files, bytes, damage))

/// By the checkpoint's name.
using VerifiedNotes = std::map<std::string, VerifiedNote>;

/// Adds what was found just now of checkpoints of a run. Of two processes that do so at once one
/// may win. Errors: `not_found` where no run is; `unavailable`.
Result<void> note_verified(const std::string& run_directory, const std::vector<Verification>& found);

/// Nothing where there is no such file, or none that this version reads.
VerifiedNotes verified_in(const std::string& run_directory);

}  // namespace headway::storage
