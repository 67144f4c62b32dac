#pragma once

#include "control/commands.hpp"
#include "control/events.hpp"
#include "driver/front_queue.hpp"
#include "driver/helper_process.hpp"
#include "driver/run_folder.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

namespace headway::driver {

/// The processes that validate checkpoints of one run: helpers with separate resources, forked by
/// the same factory as the ranks. Decides nothing; lives on the driver's loop.
class ValidationProcesses {
 public:
  /// What is the same for all of a run's validations.
  struct Common {
    RunSpec spec;
    std::shared_ptr<RunFolder> folder;
    JsonObject setup;  ///< For the front end's worker side.
    /// The trainer's, pickled with its arguments; null when it has none.
    wire::Blob function;
    node::FactoryChoice factory;  ///< As the run's ranks.
  };
  /// Hands an event to the controller, later.
  using Tell = std::function<void(control::Event)>;

  ValidationProcesses(HelperServices services, Common common, std::shared_ptr<FrontQueue> front, Tell tell)
      : services_(std::move(services)), common_(std::move(common)), front_(std::move(front)), tell_(std::move(tell)) {}

  /// `run` is the run that owns this.
  void start(const control::StartValidation& command, const std::weak_ptr<void>& run, std::int64_t run_id);
  void end(const control::EndValidation& command);
  /// Kills all of them, and reports nothing of them any more.
  void kill_all();

 private:
  HelperPlan plan(const control::StartValidation& order, std::int64_t run_id) const;
  HelperProcess::Handlers handlers(const control::StartValidation& order);
  void take(std::int64_t number, const wire::FromWorker& message);
  void ended(std::int64_t number, const HelperEnd& end);
  wire::Blob function_of(const control::StartValidation& order) const;

  HelperServices services_;
  Common common_;
  std::shared_ptr<FrontQueue> front_;
  Tell tell_;
  /// By the validation's number.
  std::map<std::int64_t, std::shared_ptr<HelperProcess>> processes_;
};

}  // namespace headway::driver
