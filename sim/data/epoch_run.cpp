#include "sim/data/epoch_run.hpp"

#include "core/json.hpp"
#include "sim/data/invariants.hpp"

#include <algorithm>
#include <set>

namespace headway::data::sim {

EpochModel::EpochModel(const Scenario& scenario, const EpochOrder& order) {
  std::vector<std::uint32_t> permutation;
  std::set<Row> seen;
  for (int lane = 0; lane < order.lanes(); ++lane) {
    std::vector<Row>& rows = lanes_.emplace_back();
    for (std::uint32_t window = order.first_window(lane); window < order.end_window(lane); ++window) {
      std::vector<Row> in_parts;
      for (const UnitPart& part : order.parts_of(window)) {
        const std::int64_t end = part.end < 0 ? scenario.rows[part.unit] : part.end;
        for (std::int64_t row = part.begin; row < end; ++row) in_parts.push_back({part.unit, row});
      }
      order.row_order(window, static_cast<std::int64_t>(in_parts.size()), permutation);
      for (const std::uint32_t place : permutation) rows.push_back(in_parts.at(place));
    }
    seen.insert(rows.begin(), rows.end());
    rows_ += static_cast<std::int64_t>(rows.size());
  }
  std::int64_t expected = 0;
  for (const std::int64_t rows : scenario.rows) expected += rows;
  require(rows_ == expected && static_cast<std::int64_t>(seen.size()) == expected, invariant::each_row_once, "not so");
}

std::vector<Row> EpochModel::rows(std::int64_t first, std::int64_t count) const {
  std::vector<std::vector<Row>> of_lanes(lanes_.size());
  const auto lanes = static_cast<std::int64_t>(lanes_.size());
  for (std::int64_t row = first; row < first + count; ++row) {
    const auto lane = static_cast<std::size_t>(row % lanes);
    of_lanes[lane].push_back(lanes_[lane].at(static_cast<std::size_t>(row / lanes)));
  }
  std::vector<Row> rows;
  for (const auto& each : of_lanes) rows.insert(rows.end(), each.begin(), each.end());
  return rows;
}

EpochRun::EpochRun(const Scenario& scenario, Random& random)
    : scenario_(scenario),
      random_(random),
      order_(scenario.order, scenario.units),
      model_(scenario, order_),
      epoch_rows_(model_.rows()) {
  const std::int64_t rows_max = scenario.phases.front().shares.rows_max;
  if (rows_max >= 0) epoch_rows_ = std::min(epoch_rows_, rows_max);
  cursor_.seed = scenario.order.seed;
  cursor_.epoch = scenario.order.epoch;
  cursor_.lanes = scenario.order.lanes;
  cursor_.window_bytes = scenario.order.window_bytes;
  save();
}

void EpochRun::run() {
  for (const Phase& phase : scenario_.phases) run_phase(phase);
}

void EpochRun::save() {
  saved_ = to_json_text(cursor_);
  saved_trained_ = trained_;
}

/// From the newest checkpoint, as processes that know nothing but its manifest.
void EpochRun::start(const Phase& phase) {
  cursor_ = parse_cursor(parse_json(saved_, "the cursor").value(), "the cursor").value();
  trained_ = saved_trained_;
  steps_of_phase_ = 0;
  machines_.clear();
  ranks_.assign(static_cast<std::size_t>(phase.shares.world_size), {});
  for (int number = 0; number < phase.machines; ++number) {
    Machine machine{std::make_unique<Credits>(scenario_.budget_bytes), {}};
    Shares shares = phase.shares;
    shares.ranks.clear();
    for (int rank = 0; rank < shares.world_size; ++rank) {
      if (rank * phase.machines / shares.world_size != number) continue;
      shares.ranks.push_back(rank);
      ranks_[static_cast<std::size_t>(rank)].machine = number;
      ranks_[static_cast<std::size_t>(rank)].is_slow = random_.one_in(4);
    }
    const auto add = [&](const Shares& of_machine, const Position& from) {
      machine.readers.push_back(std::make_unique<Reader>(scenario_, order_, of_machine, from, *machine.credits));
    };
    add(shares, position_of(cursor_));
    if (phase.is_shared) add({.world_size = 1, .batch_rows = 7}, {});
    machines_.push_back(std::move(machine));
  }
}

void EpochRun::run_phase(const Phase& phase) {
  start(phase);
  while (steps_of_phase_ != phase.steps_max) {
    if (act(phase, false) || act(phase, true)) continue;
    require(has_ended(), invariant::liveness, "nothing can happen any more");
    check_end(phase);
    return;
  }
}

bool EpochRun::has_ended() const {
  return std::ranges::all_of(ranks_, [](const Rank& rank) { return rank.has_ended && rank.prefetched.empty(); });
}

/// Some of what may happen, or all of it once. Returns whether anything did.
bool EpochRun::act(const Phase& phase, bool all) {
  bool happened = false;
  for (Machine& machine : machines_) happened |= act_on(machine, phase, all);
  for (int rank = 0; rank < phase.shares.world_size; ++rank) {
    const bool is_slow = ranks_[static_cast<std::size_t>(rank)].is_slow;
    if (all || random_.one_in(is_slow ? 8 : 2)) happened |= prefetch(rank);
  }
  return train(phase) || happened;
}

bool EpochRun::act_on(Machine& machine, const Phase& phase, bool all) {
  bool happened = false;
  for (const auto& reader : machine.readers) {
    if (all || random_.one_in(2)) happened |= reader->start_unit();
    if (all || random_.one_in(3)) happened |= reader->finish_unit(random_);
  }
  if (phase.is_shared && (!phase.second_is_late || has_ended()) && (all || random_.one_in(2))) {
    DealtBatch batch;
    std::vector<Row> rows;
    happened |= machine.readers[1]->next(0, batch, rows) == Dealer::Next::batch;
  }
  return happened;
}

bool EpochRun::prefetch(int number) {
  constexpr std::size_t prefetched_max = 2;
  Rank& rank = ranks_[static_cast<std::size_t>(number)];
  if (rank.has_ended || rank.prefetched.size() >= prefetched_max) return false;
  std::pair<DealtBatch, std::vector<Row>> next;
  Reader& reader = *machines_[static_cast<std::size_t>(rank.machine)].readers[0];
  const Dealer::Next answer = reader.next(number, next.first, next.second);
  if (answer == Dealer::Next::batch) rank.prefetched.push_back(std::move(next));
  rank.has_ended = answer == Dealer::Next::end;
  return answer != Dealer::Next::wait;
}

/// A step of all ranks, when each of them has a batch, or is at its end.
bool EpochRun::train(const Phase& phase) {
  if (steps_of_phase_ == phase.steps_max || has_ended()) return false;
  for (const Rank& rank : ranks_) {
    if (rank.prefetched.empty() && !rank.has_ended) return false;
  }
  std::vector<Row> rows;
  for (const Rank& rank : ranks_) {
    if (!rank.prefetched.empty()) {
      rows.insert(rows.end(), rank.prefetched.front().second.begin(), rank.prefetched.front().second.end());
    }
  }
  check_step(phase, rows);
  cursor_ = moved(cursor_, ranks_.front().prefetched.front().first.after);
  trained_ += static_cast<std::int64_t>(rows.size());
  for (Rank& rank : ranks_) {
    if (!rank.prefetched.empty()) rank.prefetched.pop_front();
  }
  ++steps_;
  if (++steps_of_phase_ % phase.report_every == 0) save();
  return true;
}

void EpochRun::check_step(const Phase& phase, const std::vector<Row>& rows) {
  const std::size_t of_rank = ranks_.front().prefetched.empty() ? 0 : ranks_.front().prefetched.front().second.size();
  require(of_rank > 0, invariant::equal_steps, "rank 0 has ended before others");
  for (const Rank& rank : ranks_) {
    if (!phase.shares.equal) break;
    require(!rank.prefetched.empty() && rank.prefetched.front().second.size() == of_rank, invariant::equal_steps,
            "a rank has another number of rows than rank 0");
  }
  const auto count = static_cast<std::int64_t>(rows.size());
  require(trained_ + count <= epoch_rows_ && rows == model_.rows(trained_, count), invariant::very_next_rows,
          [&] { return "step " + std::to_string(steps_) + " at row " + std::to_string(trained_); });
  const std::int64_t after = ranks_.front().prefetched.front().first.after.rows_before;
  require(after == trained_ + count || after == epoch_rows_, invariant::very_next_rows, "the cursor says another row");
}

void EpochRun::check_end(const Phase& phase) const {
  const std::int64_t dropped = epoch_rows_ - trained_;
  // An earlier phase may have dropped them, when it came to the end.
  std::int64_t allowed = 1;
  for (const Phase& each : scenario_.phases) {
    const std::int64_t ranks = each.shares.equal ? each.shares.world_size : 1;
    allowed = std::max(allowed, ranks * (each.shares.drop_last ? each.shares.batch_rows : 1));
  }
  require(dropped >= 0 && dropped < allowed, invariant::end,
          [&] { return std::to_string(dropped) + " rows are dropped"; });
  for (const Machine& machine : machines_) {
    for (const auto& reader : machine.readers) {
      require(phase.shares.rows_max >= 0 || reader->is_empty(), invariant::dealing, "a window is never given back");
    }
  }
}

}  // namespace headway::data::sim
