#pragma once

#include "control/tune/asha.hpp"
#include "control/tune/decision.hpp"
#include "control/tune/hyperband.hpp"
#include "control/tune/median_stopping.hpp"
#include "control/tune/pbt.hpp"
#include "core/json.hpp"

#include <headway/result.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace headway::control::tune {

struct FifoSpec {};
BOOST_DESCRIBE_STRUCT(FifoSpec, (), ())

/// Every trial runs to its own end.
class Fifo {
 public:
  static constexpr const char* is = "fifo";
  struct State {};

  explicit Fifo(FifoSpec = {}) {}
  Fifo(FifoSpec, State) {}

  static FifoSpec spec() { return {}; }
  static State state() { return {}; }

  void added(std::int64_t) {}
  Decision reported(const Progress&, SideEffects&) { return {}; }
  void completed(const Progress&, SideEffects&) {}
  void removed(std::int64_t) {}
};
BOOST_DESCRIBE_STRUCT(Fifo::State, (), ())

/// Which trials go on: one of the known schedulers. A value without I/O; what it has seen goes to
/// JSON and comes back.
class Scheduler {
 public:
  using Kind = std::variant<Fifo, Asha, MedianStopping, HyperBand, Pbt, PbtReplay>;

  Scheduler() = default;

  /// `description` has its "kind", and arguments, of which those left out have their defaults. A
  /// metric and a mode that it does not name are the experiment's.
  /// Errors: `invalid_argument`, naming the argument.
  static Result<Scheduler> make(JsonObject description, const std::optional<std::string>& metric,
                                const std::optional<std::string>& mode, std::uint64_t seed);

  /// Description and state.
  Json to_json() const;
  /// What to_json() has given. Errors: `corrupted`.
  static Result<Scheduler> from_json(const Json& json);

  /// What reports must have for it: none, or its attribute of time and its metric.
  std::vector<std::string> needs() const;
  /// What it reads of reports: what they must have, and what they may have.
  std::vector<std::string> reads() const;
  /// What it reads of a report; none when the report lacks any of it.
  std::optional<Progress> progress(std::int64_t trial, const std::map<std::string, double>& numbers) const;

  void added(std::int64_t trial);
  /// One that had errored runs again.
  void added_again(std::int64_t trial);
  Decision reported(const Progress& progress, SideEffects& effects);
  void completed(const Progress& progress, SideEffects& effects);
  void removed(std::int64_t trial, SideEffects& effects);
  /// An earlier driver's trial does not go on; `taken_up`: it does, and may have been left before.
  void left(std::int64_t trial, SideEffects& effects);
  void taken_up(std::int64_t trial);
  /// No trial runs, and none is to come but those that are paused.
  void idle(SideEffects& effects);
  /// Whether a trial that it paused may go on when there is room. Else it waits for a SideEffects.
  bool resumes_where_there_is_room() const;
  /// Whether trials share places: then those that pause wait for them as new ones do.
  bool shares_places() const;
  /// Whether a copy need not wait for the others.
  bool may_run(std::int64_t trial) const;
  /// Of these trials the one to start.
  std::int64_t choose(const std::set<std::int64_t>& candidates) const;
  /// Checkpoints that other trials may continue from, by trial.
  std::map<std::int64_t, std::vector<std::string>> pinned() const;
  /// Those of PBT that keep them: what trials have come to with which configurations.
  const std::vector<Pbt::Point>* history() const;
  void configured(std::int64_t trial, double score, const std::string& config);
  /// Whether the files of PBT say what trials were copied.
  bool logs_copies() const;

 private:
  explicit Scheduler(Kind kind) : kind_(std::move(kind)) {}

  Kind kind_;
};

}  // namespace headway::control::tune
