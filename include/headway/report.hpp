#pragma once

#include <headway/checkpoint.hpp>
#include <headway/export.hpp>
#include <headway/json.hpp>
#include <headway/reduce.hpp>
#include <headway/validation.hpp>

#include <functional>
#include <optional>
#include <string>
#include <variant>

namespace headway {

/// How a checkpoint gets to the run's folder, and when `report` returns.
enum class UploadMode {
  sync,   ///< Headway copies it; `report` returns when it is committed.
  async,  ///< `report` returns before: it is stored and committed while training continues.
  /// It lies right in the run's folder already, or will: it is recorded as is, even if empty,
  /// without checksums.
  none
};

/// Stores a checkpoint in place of Headway: it is given the local one and the name that it is to
/// have, puts the files into the run's folder (`context().run_directory`), and returns the
/// checkpoint there, the same directory in all ranks. What it throws fails the report.
using UploadFunction = std::function<Checkpoint(const Checkpoint& local, const std::string& name)>;

/// How a checkpoint is reported.
struct ReportOptions {
  /// The checkpoint's name in the run's folder; empty: checkpoint_000000 and so on.
  std::string checkpoint_name = "";
  UploadMode upload = UploadMode::sync;
  /// Hands the local directory over: its files are moved where they can be, and the directory is
  /// removed once they are stored. None: true for `async`, else false. With `none` nothing is
  /// moved: the directory is the checkpoint. A committed checkpoint, and a directory that holds the
  /// run's folder or the current one, are copied and stay.
  std::optional<bool> move = std::nullopt;
  /// Instead of Headway's own copying, in each rank that gives a checkpoint; not with `none`. With
  /// `async` it is called on a separate thread while training continues. The files are recorded
  /// without checksums.
  UploadFunction upload_function = nullptr;
  /// True has the checkpoint validated by `TrainerOptions::validation`, beside the training; a
  /// `ValidationTaskConfig` does so with other arguments and another time limit. Rank 0's counts.
  /// `report` does not wait for it; `fit()` does.
  std::variant<bool, ValidationTaskConfig> validation = false;
  /// How metrics are reduced over the ranks, in the barrier that `report` is. Not given: rank 0's
  /// count. Rank 0's argument counts.
  Reduction reduce = std::nullopt;
};

/// Reports metrics and, if given, a checkpoint. A barrier: every rank must call it equally often,
/// from one thread at a time.
///
/// Rank 0's metrics are recorded, reduced over the ranks where `reduce` asks for it. Any rank may
/// give a checkpoint; the files of all of them make one, and a file name that several give is taken
/// from the lowest of them. When `report` has returned, the checkpoint is committed: files, then a
/// manifest with their sizes and checksums, all of it fsynced. With `async` it returns once every
/// rank has reported; leave the directory alone from then on. Commits keep the order of the
/// reports; the next `report` throws if one has failed, or `fit()` fails when none follows. With
/// two under way, the next report waits.
///
/// `metrics` is an object; `{}` is one without any. Throws `BadResult`: `invalid_argument` (outside
/// of a training loop, no object, a bad name; nothing was reported), `not_found` (no such
/// directory), `unavailable` (the checkpoint could not be stored: thrown in every rank, and nothing
/// of the report is recorded).
///
///     headway::report({{"loss", loss}, {"epoch", epoch}}, headway::Checkpoint::from_directory(folder));
HEADWAY_API void report(const Json& metrics, const std::optional<Checkpoint>& checkpoint = std::nullopt,
                        const ReportOptions& options = {});

}  // namespace headway
