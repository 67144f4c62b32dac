#pragma once

#include "sim/data/reader.hpp"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace headway::data::sim {

/// What the epoch's order is, said in another way than the dealer's: the rows of each lane, and
/// lanes that take turns.
class EpochModel {
 public:
  EpochModel(const Scenario& scenario, const EpochOrder& order);
  std::int64_t rows() const { return rows_; }
  /// Rows [first, first + count) of the epoch, those of each lane together.
  std::vector<Row> rows(std::int64_t first, std::int64_t count) const;

 private:
  std::vector<std::vector<Row>> lanes_;
  std::int64_t rows_ = 0;
};

/// One simulated epoch, over all kills and resizes. Throws `Violation` where an invariant does not
/// hold.
class EpochRun {
 public:
  EpochRun(const Scenario& scenario, Random& random);
  void run();
  std::int64_t steps() const { return steps_; }

 private:
  struct Machine {
    std::unique_ptr<Credits> credits;
    std::vector<std::unique_ptr<Reader>> readers;  ///< The first is trained on.
  };
  struct Rank {
    int machine = 0;
    bool is_slow = false;
    bool has_ended = false;
    std::deque<std::pair<DealtBatch, std::vector<Row>>> prefetched;
  };

  void start(const Phase& phase);
  void run_phase(const Phase& phase);
  bool act(const Phase& phase, bool all);
  bool act_on(Machine& machine, const Phase& phase, bool all);
  bool prefetch(int rank);
  bool train(const Phase& phase);
  void check_step(const Phase& phase, const std::vector<Row>& rows);
  void check_end(const Phase& phase) const;
  void save();
  bool has_ended() const;

  const Scenario& scenario_;
  Random& random_;
  EpochOrder order_;
  EpochModel model_;
  std::int64_t epoch_rows_;  ///< With a limit.
  std::vector<Machine> machines_;
  std::vector<Rank> ranks_;
  Cursor cursor_;                   ///< Where rank 0 stands.
  std::string saved_;               ///< The cursor in the newest checkpoint, as text.
  std::int64_t trained_ = 0;        ///< Rows.
  std::int64_t saved_trained_ = 0;  ///< When that checkpoint was made.
  std::int64_t steps_ = 0;
  int steps_of_phase_ = 0;
};

}  // namespace headway::data::sim
