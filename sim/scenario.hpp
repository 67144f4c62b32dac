#pragma once

#include "control/collective_barrier.hpp"
#include "core/config.hpp"
#include "core/time.hpp"
#include "core/worker.hpp"
#include "sim/random.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace headway::sim {

/// Changes whenever the same seed no longer gives the same run, because of the generator, the
/// faults or the order of random numbers: a seed that was kept (sim/seeds.txt) means something only
/// together with this number.
inline constexpr int generator_version = 9;

/// What one seed's run is: the configuration, and a training function that every rank runs alike.
struct Scenario {
  enum class Writers { first_rank, all_ranks_own_files, all_ranks_same_file };
  enum class Names { automatic, by_step, always_the_same, like_automatic_ones };

  RunSpec spec;
  /// Reports from a fresh start to the end; a checkpoint says which step it was made in.
  std::int64_t steps = 0;
  int checkpoint_every = 0;     ///< 0: never.
  int asynchronous_one_in = 0;  ///< How often a checkpoint is asynchronous; 0: never.
  Writers writers = Writers::first_rank;
  Names names = Names::automatic;
  CheckpointSource source = CheckpointSource::files;
  /// Rank 0 reports its directory where it lies, and the others upload files to it.
  bool some_upload = false;
  /// What the ranks offer, or where their functions store it, cannot be one checkpoint.
  bool ranks_disagree = false;
  bool catches = false;  ///< Whether the loop goes on after a report that failed, or raises.
  /// Whether the metrics have the score that the configuration asks for.
  bool scored = false;
  int nodes = 1;
  int validate_every = 0;  ///< Steps whose checkpoints are to be validated; 0: never.
  /// Steps before which all ranks meet in a barrier or the like; 0: never.
  int gather_every = 0;
  bool asks = false;  ///< Whether the loop asks for all checkpoints now and then.

  bool has_checkpoint(std::int64_t step) const { return checkpoint_every > 0 && step % checkpoint_every == 0; }
  /// The name that the user wants for a step's checkpoint.
  std::optional<std::string> directory_name(std::int64_t step) const;
  /// A rank's part of a step's checkpoint; none for most ranks of most steps. The same in every
  /// attempt.
  std::optional<CheckpointOffer> offer(int rank, std::int64_t step) const;
  /// Where a rank's own function stores a checkpoint that is to be called `name`.
  std::string stored_name(int rank, const std::string& name) const;
  /// Rank 0's metrics.
  JsonObject metrics(std::int64_t step) const;
  /// What it wants to have validated with a step's checkpoint.
  std::optional<ValidationTask> validation(std::int64_t step) const;
  /// What all ranks call together before a step's report, or before they return.
  std::optional<control::CollectiveCall> gathering(std::int64_t step) const;
  /// What the validation of a step's checkpoint finds.
  JsonObject validated(std::int64_t step) const;
};

Scenario make_scenario(Random& random);

}  // namespace headway::sim
