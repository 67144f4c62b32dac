#pragma once

#include "core/worker.hpp"
#include "driver/front_queue.hpp"
#include "driver/helper_process.hpp"
#include "engine/spare_places.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace headway::driver {

/// The processes on other nodes that call Python functions for the data processes of one run's
/// nodes, on CPUs that nobody has claimed. A rank asks for those of its node. Each connects to that
/// data process, and ends when that needs it no more; where somebody claims its CPUs it is ended at
/// once, and what it was doing is done again elsewhere. Decides nothing but how many each node's
/// data process gets; lives on the driver's loop.
class FunctionWorkers {
 public:
  /// `spare` is the runtime's, for all its runs. `launch`: the factory that the run's ranks come
  /// from.
  FunctionWorkers(HelperServices services, engine::SparePlaces& spare, node::WorkerLaunch launch,
                  std::shared_ptr<FrontQueue> front)
      : services_(std::move(services)), spare_(spare), launch_(std::move(launch)), front_(std::move(front)) {}
  FunctionWorkers(const FunctionWorkers&) = delete;
  FunctionWorkers& operator=(const FunctionWorkers&) = delete;
  ~FunctionWorkers() { spare_.lack(this, {}); }

  /// The data process of the rank in `slot`, one of the group's `slots`, wants them, instead of
  /// what was wanted there before. `start` says what the processes are, but for their role. `run`
  /// is the run that owns this.
  void want(const Slot& slot, const wire::FunctionWorkersWanted& wanted, const std::vector<Slot>& slots,
            const wire::StartSession& start, const std::weak_ptr<void>& run);
  /// A rank of that node is gone, and with it, as a rule, the data process.
  void forget(const std::string& node_id);
  /// What is spare may have changed: those that must go, go, and others come.
  void look();
  /// The group has ended: all of them go.
  void leave();

 private:
  struct Request {
    wire::FunctionWorkersWanted wanted;
    Slot slot;
    engine::SpareWanted place;
    int machines = 1;  ///< That share what there is.
    wire::StartSession start;
    std::weak_ptr<void> run;
    int missing = 0;  ///< That are still to be started.
    int most = 0;     ///< That were there at a time since they were wanted last.
    int losses = 0;   ///< Workers that have died since then.
    bool told = false;
  };
  struct Worker {
    std::string reader;  ///< The data process's node.
    std::string token;   ///< Of the data process that it was started for.
    std::string hostname;
    bool ended_here = false;
    /// It was at work when workers were wanted again. What it was started for may end earlier.
    bool wanted_again = false;
    std::shared_ptr<HelperProcess> process;
  };

  void fill();
  void tell_engine();
  bool is_for(const Worker& worker, const Request& request) const;
  int live(const Request& request) const;
  bool start_one(Request& request, const std::vector<engine::SpareNode>& nodes);
  void ended(std::int64_t number, const HelperEnd& end);
  void lost(Request& request, const Worker& worker, const ExitStatus& status);
  void end(std::int64_t number);
  void end_all(const std::string* reader);
  void tell(Request& request);

  HelperServices services_;
  engine::SparePlaces& spare_;
  node::WorkerLaunch launch_;
  std::shared_ptr<FrontQueue> front_;
  std::map<std::string, Request> requests_;  ///< By the data process's node.
  std::map<std::int64_t, Worker> workers_;   ///< By number, the same as in `spare_`.
  bool filling_ = false;
};

}  // namespace headway::driver
