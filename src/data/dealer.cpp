#include "data/dealer.hpp"

#include "data/lane_ranges.hpp"

#include <algorithm>
#include <string>

namespace headway::data {

Dealer::Dealer(const EpochOrder& order, const Shares& shares, const Position& start)
    : order_(order),
      shares_(shares),
      rounds_(shares, start.rows_before),
      start_(start),
      states_(order.windows().size()),
      rank_rounds_(shares.ranks.size(), 0) {
  for (std::size_t index = 0; index < states_.size(); ++index) {
    states_[index].missing = order.windows()[index].part_count;
    states_[index].begin = order.windows()[index].begin;
  }
  for (int lane = 0; lane < order.lanes(); ++lane) retired_until_.push_back(order.first_window(lane));
  if (order.knows_rows()) {
    rounds_.set_total(order.rows());
    known_windows_ = order.end_window(0);
    next_window_ = start.rows_before < order.rows() ? order.window_at(0, start.rows_before) : order.end_window(0);
  } else {
    next_window_ = std::min(start.window, order.end_window(0));
    known_windows_ = next_window_;
    if (next_window_ < states_.size()) states_[next_window_].begin = start.rows_before - start.row;
    learn_rows();
  }
  if (is_in_sequence()) retired_until_[0] = next_window_;
}

std::size_t Dealer::place_of(int rank) const {
  const auto found = std::lower_bound(shares_.ranks.begin(), shares_.ranks.end(), rank);
  return static_cast<std::size_t>(found - shares_.ranks.begin());
}

/// The rows of the epoch that some rank gets, where it is known how many there are.
std::int64_t Dealer::rows_needed() const {
  const std::int64_t last = rounds_.count() - 1;
  return last < 0 ? 0 : rounds_.first_row(last) + rounds_.rows(last);
}

std::uint32_t Dealer::window_at(int lane, std::int64_t row) const {
  if (order_.knows_rows()) return order_.window_at(lane, row);
  const auto end = states_.begin() + known_windows_;
  const auto after = std::upper_bound(states_.begin() + retired_until_[0], end, row,
                                      [](std::int64_t at, const WindowState& each) { return at < each.begin; });
  return static_cast<std::uint32_t>(after - states_.begin()) - 1;
}

void Dealer::want_windows_of(std::int64_t round) {
  const auto want = [this](int lane, std::int64_t begin, std::int64_t end) {
    for (std::uint32_t window = window_at(lane, begin), last = window_at(lane, end - 1); window <= last; ++window) {
      if (!states_[window].is_wanted) wanted_.push_back(window);
      states_[window].is_wanted = true;
    }
    return true;
  };
  for (const int rank : shares_.ranks) {
    for_each_lane(rounds_, order_.lanes(), round, rounds_.batch(round, rank), want);
  }
}

/// Finds the window that is needed next. False: there is none.
bool Dealer::want_next_window() {
  wanted_.clear();
  next_wanted_ = 0;
  if (is_in_sequence()) {
    if (next_window_ == order_.end_window(0)) return false;
    if (rounds_.knows_total() && (!order_.knows_rows() || states_[next_window_].begin >= rows_needed())) return false;
    states_[next_window_].is_wanted = true;
    wanted_.push_back(next_window_++);
  }
  while (wanted_.empty() && !rounds_.is_past_end(planned_rounds_)) want_windows_of(planned_rounds_++);
  return !wanted_.empty();
}

std::optional<UnitTask> Dealer::next_unit() {
  if (next_wanted_ == wanted_.size() && !want_next_window()) return {};
  const Window& window = order_.windows()[wanted_[next_wanted_]];
  const std::uint32_t part = window.first_part + next_part_;
  if (++next_part_ == window.part_count) {
    next_part_ = 0;
    ++next_wanted_;
  }
  return UnitTask{part, order_.parts()[part]};
}

Result<std::optional<std::uint32_t>> Dealer::unit_done(std::uint32_t part, std::int64_t rows) {
  const UnitPart& done = order_.parts()[part];
  if (order_.knows_rows() && rows != done.end - done.begin) {
    return Error{ErrorKind::corrupted, "unit " + std::to_string(done.unit) + " has " + std::to_string(rows) +
                                           " rows; when the data set was opened it had " +
                                           std::to_string(done.end - done.begin)};
  }
  WindowState& state = states_[done.window];
  state.rows += rows;
  if (--state.missing > 0) return std::optional<std::uint32_t>();
  if (!order_.knows_rows()) learn_rows();
  return std::optional(done.window);
}

/// Where rows are not known before: what complete windows say of the epoch.
void Dealer::learn_rows() {
  std::int64_t known = known_windows_ < states_.size() ? states_[known_windows_].begin : start_.rows_before;
  while (known_windows_ < states_.size() && states_[known_windows_].missing == 0) {
    known += states_[known_windows_].rows;
    if (++known_windows_ < states_.size()) states_[known_windows_].begin = known;
  }
  if (known_windows_ == states_.size()) {
    rounds_.set_total(known);
  } else if (known > start_.rows_before) {
    rounds_.set_known(known);
  }
}

bool Dealer::add_pieces(int lane, std::int64_t begin, std::int64_t end, std::vector<Piece>& pieces) const {
  for (std::uint32_t window = window_at(lane, begin); begin < end; ++window) {
    const WindowState& state = states_[window];
    if (state.missing > 0) return false;
    const std::int64_t first = begin - state.begin;
    const std::int64_t rows = std::min(end - begin, state.rows - first);
    if (rows > 0) pieces.push_back({window, first, rows});
    begin += rows;
  }
  return true;
}

Dealer::Next Dealer::next(int rank, DealtBatch& batch) {
  std::int64_t& round = rank_rounds_[place_of(rank)];
  if (rounds_.is_past_end(round)) return Next::end;
  if (!rounds_.is_decided(round)) return Next::wait;
  const RowRange range = rounds_.batch(round, rank);
  if (range.rows == 0) {
    round = rounds_.count();
    return Next::end;
  }
  batch.rank = rank;
  batch.rows = range.rows;
  batch.pieces.clear();
  const auto add = [&](int lane, std::int64_t begin, std::int64_t end) {
    return add_pieces(lane, begin, end, batch.pieces);
  };
  if (!for_each_lane(rounds_, order_.lanes(), round, range, add)) return Next::wait;
  batch.after = position_at(rounds_.end_row(round), start_.batches + round + 1);
  ++round;
  return Next::batch;
}

Position Dealer::position_at(std::int64_t row, std::int64_t batches) const {
  Position position{row, 0, 0, batches};
  const std::int64_t lane_row = rows_of_lane(row, 0, order_.lanes());
  const bool is_at_end = order_.knows_rows() ? lane_row >= rows_of_lane(order_.rows(), 0, order_.lanes())
                                             : known_windows_ == states_.size() && rounds_.knows_total() &&
                                                   states_.back().begin + states_.back().rows <= row;
  if (is_at_end) {
    position.window = order_.end_window(0);
  } else if (!order_.knows_rows() && known_windows_ < states_.size() && row == states_[known_windows_].begin) {
    position.window = known_windows_;
  } else {
    position.window = window_at(0, lane_row);
    position.row = lane_row - states_[position.window].begin;
  }
  return position;
}

std::int64_t Dealer::slowest_round() const { return *std::min_element(rank_rounds_.begin(), rank_rounds_.end()); }

bool Dealer::is_needed_now(std::uint32_t part) const {
  if (rank_rounds_.empty()) return false;
  const std::uint32_t window = order_.parts()[part].window;
  const std::int64_t round = slowest_round();
  if (rounds_.is_past_end(round) || states_[window].missing == 0) return false;
  if (!rounds_.is_decided(round)) return window == known_windows_;
  const int lane = static_cast<int>(order_.windows()[window].lane);
  const std::int64_t lane_end = rows_of_lane(rounds_.first_row(round) + rounds_.rows(round), lane, order_.lanes());
  return order_.knows_rows() && states_[window].begin < lane_end;
}

std::optional<std::uint32_t> Dealer::next_retired() {
  if (rank_rounds_.empty()) return {};
  const std::int64_t round = slowest_round();
  const int lanes = order_.lanes();
  const std::int64_t row = rounds_.is_past_end(round) ? rounds_.end_row(rounds_.count() - 1) : rounds_.first_row(round);
  for (int lane = 0; lane < lanes; ++lane) {
    std::uint32_t& window = retired_until_[static_cast<std::size_t>(lane)];
    const std::uint32_t end =
        std::min(order_.end_window(lane), is_in_sequence() ? known_windows_ : order_.end_window(lane));
    for (; window < end; ++window) {
      const WindowState& state = states_[window];
      const std::int64_t rows = order_.knows_rows() ? order_.windows()[window].rows : state.rows;
      if (state.begin + rows > rows_of_lane(row, lane, lanes)) break;
      if (state.is_wanted && state.missing == 0) return window++;
    }
  }
  return {};
}

std::optional<std::int64_t> Dealer::rounds() const {
  return rounds_.knows_total() ? std::optional(rounds_.count()) : std::nullopt;
}

}  // namespace headway::data
