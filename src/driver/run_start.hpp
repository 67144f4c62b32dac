#pragma once

#include "core/config.hpp"
#include "core/json.hpp"
#include "node/node_agent.hpp"
#include "wire/frame.hpp"

#include <functional>
#include <vector>

namespace headway::driver {

/// All that a front end gives to start a run.
struct RunStart {
  RunSpec spec;
  /// For the front end's worker side, as is. It goes over sessions alone and is written nowhere,
  /// because it may hold secrets (environment variables).
  JsonObject worker_setup = {};
  /// What ranks call: in Python the pickled function with its configuration.
  wire::Blob task = nullptr;
  /// What the front end can make the trainer from again; kept in the run's folder for a restore.
  wire::Blob trainer = nullptr;
  wire::Blob validation = nullptr;   ///< The trainer's validation function with its arguments.
  node::FactoryChoice factory = {};  ///< Where all of the run's workers come from.
  /// Whether its small files survive a loss of power by themselves. A trial's may be lost: what it
  /// came to is in its experiment's journal, and its checkpoints are durable.
  bool durable_files = true;
  /// It asks for no slots before Run::let_in.
  bool held = false;
  /// While it has no slots, the process of its only rank may be started, and waits for them. For a
  /// run that has never begun.
  bool starts_early = false;
  /// Called, from any thread, when there are events to take, rather than event_fd made readable.
  std::function<void()> woken = nullptr;
  /// Called on the loop when the run has to wait for slots, and when it has them.
  std::function<void(bool waits)> waits_for_slots = nullptr;
  /// Called on the loop when all ranks have returned, and their slots are others' while the
  /// processes end: only with RunSpec::returns_slots_early.
  std::function<void()> slots_returned = nullptr;
  /// Local mode alone: by rank, its session.
  std::vector<wire::Fd> local_sessions = {};
};

}  // namespace headway::driver
