#pragma once

#include "core/json.hpp"
#include "core/report_line.hpp"
#include "core/validation.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What a checkpoint directory holds, as its `.headway.json` says. A checkpoint exists when, and
/// only when, this file does.
namespace headway {

/// The commit record's file name inside a checkpoint directory.
inline constexpr std::string_view manifest_name = ".headway.json";
/// Present from the moment we begin a checkpoint until it is committed: what has it, and no
/// manifest, is ours to sweep.
inline constexpr std::string_view begun_marker_name = ".headway.begun";
/// On storage without rename the marker of `<run>/<name>` is `<run>/.headway.begun.<name>`.
inline constexpr std::string_view begun_marker_prefix = ".headway.begun.";
/// Our temporary files and directories begin so, in a run's directory and in a checkpoint's. What
/// is called this was left by a process that died in the middle, and is ours to sweep.
inline constexpr std::string_view part_prefix = ".headway.part.";

/// What users tell about a checkpoint (`Checkpoint.set_metadata`): one of its files, and the only
/// one that may be written after the commit. So its checksum, as that of the reported file, does
/// not count.
inline constexpr std::string_view metadata_name = ".metadata.json";

struct FileRecord {
  std::string name;        ///< Path relative to the checkpoint directory, with '/' between parts.
  std::uint64_t size = 0;  ///< Bytes.
  std::string checksum;    ///< "xxh3:" and 16 lower-case hexadecimal digits.
  int rank = 0;            ///< The world rank that wrote it.
};
BOOST_DESCRIBE_STRUCT(FileRecord, (), (name, size, checksum, rank))

/// Where a checkpoint comes from that another run has written.
struct ClonedFrom {
  std::string run;             ///< The other run's folder, by its name.
  std::string checkpoint;      ///< Its name there.
  std::int64_t number = 0;     ///< Of the clone, as counted by whoever has made it.
  std::int64_t iteration = 0;  ///< How far the other run was then: reports count on from here.
  double time_total_s = 0;     ///< And how long it had taken.
};
BOOST_DESCRIBE_STRUCT(ClonedFrom, (), (run, checkpoint, number, iteration, time_total_s))

/// The version of manifests that this Headway writes, and the highest that it reads.
inline constexpr int manifest_version = 1;

struct Manifest {
  int version = manifest_version;
  std::string checkpoint;  ///< The directory's name, such as "checkpoint_000003".
  std::int64_t index = 0;  ///< The report's index in the run, from 0.
  int attempt = 1;         ///< Which life of the worker group wrote it, from 1.
  int world_size = 1;
  double created_unix_s = 0;                ///< Seconds since 1970 at the commit.
  JsonObject metrics;                       ///< Rank 0's metrics of the same report.
  std::vector<FileRecord> files;            ///< Sorted by name.
  std::optional<JsonObject> metadata = {};  ///< The trainer's.
  /// Which driver of the run committed it, from 1; 0: from before drivers were counted.
  std::int64_t owner_epoch = 0;
  /// Its report's line without metrics and checkpoint: should the driver die before the line is in
  /// result.json, it is made good.
  std::optional<ReportLine> report = {};
  /// The validation that was asked for with it. What became of it is in the run's journal.
  std::optional<ValidationTask> validation = {};
  /// Where rank 0 stood in its data sets: a `data::Cursor` by each name.
  std::optional<JsonObject> data = {};
  std::optional<ClonedFrom> cloned = {};
};
BOOST_DESCRIBE_STRUCT(Manifest, (),
                      (version, checkpoint, index, attempt, world_size, created_unix_s, metrics, files, metadata,
                       owner_epoch, report, validation, data, cloned))

/// Whether `a` was committed before `b`, of one run. An index may be there twice: a refused commit
/// may have left its manifest, and the next report bears its index; an owner that was overtaken may
/// have committed once more. Then the later driver, attempt, report and moment decide, and the
/// names at last, so that every listing has one order.
bool is_older(const Manifest& a, const Manifest& b);

/// Whether a name at the top of a checkpoint directory is one of Headway's own: manifest, marker or
/// temporary.
bool is_own_name(std::string_view name);

/// Whether `name` may be a file of a checkpoint: relative, no "." or ".." parts, no name that
/// Headway uses, UTF-8 without NUL.
/// Errors: `invalid_argument`, naming the file.
Result<void> check_file_name(std::string_view name);

/// Whether `name` may be a checkpoint of a run: one folder directly in the run's, 1 to 200 bytes,
/// UTF-8, not a file that a run writes itself. Names from messages, manifests and journals become
/// paths, which are written to and deleted. Errors: `invalid_argument`: `<subject> is "<name>";
/// allowed: ...`.
Result<void> check_checkpoint_name(std::string_view name, std::string_view subject);

/// What a checkpoint's file is called in errors about its name.
inline constexpr std::string_view checkpoint_file = "checkpoint file name";

/// Whether a name can be kept on remote storage: UTF-8 without control characters and the two codes
/// that are no characters (U+FFFE, U+FFFF). Object stores list and delete by XML, which has none of
/// them. Errors: `invalid_argument`: `<subject> "<name>" ...`.
Result<void> check_remote_name(std::string_view name, std::string_view subject);

/// Known version, permitted names of the checkpoint (or none) and of its files, none twice. Errors:
/// `kind`, naming `subject` and what is wrong.
Result<void> check_manifest(const Manifest& manifest, std::string_view subject, ErrorKind kind);

/// A manifest's text, checked: known version, permitted names, none twice. Errors: `corrupted`,
/// naming `subject` and what is wrong; `invalid_argument` when a newer version of Headway wrote it.
Result<Manifest> parse_manifest(std::string_view text, std::string_view subject);

}  // namespace headway
