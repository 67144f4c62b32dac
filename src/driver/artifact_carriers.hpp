#pragma once

#include "core/worker.hpp"
#include "driver/helper_process.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace headway::driver {

/// The processes that bring what ranks on other machines wrote into their working directory to the
/// run's artifacts/: one helper a machine, forked by the factory of its ranks, from the first copy
/// to the run's end. Decides nothing; lives on the driver's loop.
class ArtifactCarriers {
 public:
  /// The error of the first machine that had one.
  using Done = std::function<void(std::optional<std::string> error)>;

  /// `launch`: the factory that the run's ranks come from.
  ArtifactCarriers(HelperServices services, node::WorkerLaunch launch)
      : services_(std::move(services)), launch_(std::move(launch)) {}

  /// A rank of a machine other than the driver's works there.
  void note(const Slot& slot) { places_.insert_or_assign(slot.node_id, slot); }

  /// Has each machine bring what is new; `start` says what their processes are. `run` is the run
  /// that owns this. `done` is called when all have answered, or have ended; that of a copy before,
  /// if it is not through, never.
  void bring(const wire::StartSession& start, const std::weak_ptr<void>& run, Done done);
  /// Ends what they are at.
  void stop();
  /// The end of the run: the working directories go when their content is `synced`, and so do the
  /// processes.
  void leave(bool synced);

 private:
  struct Carrier {
    std::string node_id;
    std::shared_ptr<HelperProcess> process;
    bool leaving = false;
  };
  HelperProcess* process_on(const std::string& node_id) const;
  void begin(const Slot& slot, const wire::StartSession& start, const std::weak_ptr<void>& run);
  void answered(const std::string& node_id, const std::optional<std::string>& error);
  void ended(std::int64_t number, const HelperEnd& end);

  HelperServices services_;
  node::WorkerLaunch launch_;
  std::map<std::string, Slot> places_;  ///< Where ranks have worked, by node.
  std::map<std::int64_t, Carrier> carriers_;
  std::int64_t carriers_begun_ = 0;
  std::int64_t number_ = 0;        ///< Of the newest copy.
  std::set<std::string> awaited_;  ///< The nodes that have not answered yet.
  std::optional<std::string> first_error_;
  Done done_;
};

}  // namespace headway::driver
