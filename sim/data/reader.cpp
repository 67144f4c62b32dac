#include "sim/data/reader.hpp"

#include "sim/data/invariants.hpp"

#include <algorithm>

namespace headway::data::sim {
namespace {

std::int64_t largest_window(const EpochOrder& order) {
  std::int64_t bytes = 0;
  for (const Window& window : order.windows()) bytes = std::max(bytes, window.bytes);
  return bytes;
}

}  // namespace

Reader::Reader(const Scenario& scenario, const EpochOrder& order, const Shares& shares, const Position& start,
               Credits& credits)
    : scenario_(scenario),
      order_(order),
      dealer_(order, shares, start),
      credits_(credits),
      stream_(credits.open_stream(largest_window(order))),
      first_window_(order.knows_rows() ? 0 : start.window) {}

std::int64_t Reader::bytes_of(const UnitPart& part) const {
  const std::int64_t rows = scenario_.rows[part.unit];
  const bool is_whole = part.end < 0 || part.end - part.begin == rows;
  return is_whole ? scenario_.units[part.unit].bytes
                  : scenario_.units[part.unit].bytes / rows * (part.end - part.begin);
}

bool Reader::start_unit() {
  if (!next_) next_ = dealer_.next_unit();
  if (!next_) return false;
  const Need need{stream_, bytes_of(next_->rows), 0, dealer_.is_needed_now(next_->part)};
  const auto grant = credits_.start(need);
  if (!grant) return false;
  require(next_->rows.window >= first_window_, invariant::windows_reread, "not so");
  const std::int64_t over = std::max<std::int64_t>(credits_.used_bytes() - scenario_.budget_bytes, 0);
  require(over == grant->over_bytes && (over == 0 || need.is_needed_now), invariant::budget,
          "a unit that nobody waits for was read beyond the budget");
  windows_[next_->rows.window].tickets.push_back(grant->ticket);
  reading_.push_back({*next_, grant->ticket});
  next_.reset();
  return true;
}

bool Reader::finish_unit(Random& random) {
  if (reading_.empty()) return false;
  const auto place = reading_.begin() + random.below(static_cast<int>(reading_.size()));
  const Reading done = *place;
  reading_.erase(place);
  const UnitPart& part = done.task.rows;
  const std::int64_t rows = part.end < 0 ? scenario_.rows[part.unit] : part.end - part.begin;
  windows_[part.window].rows_of_parts[done.task.part] = rows;
  credits_.hold(done.ticket, bytes_of(part) * (2 + random.below(13)) / 10);
  const auto window = dealer_.unit_done(done.task.part, rows);
  require(window.has_value(), invariant::dealing, "the rows are not those of the metadata");
  if (*window) fill(**window);
  return true;
}

void Reader::fill(std::uint32_t window) {
  HeldWindow& held = windows_.at(window);
  std::vector<Row> in_parts;
  for (const auto& [index, rows] : held.rows_of_parts) {
    const UnitPart& part = order_.parts()[index];
    for (std::int64_t row = 0; row < rows; ++row) in_parts.push_back({part.unit, part.begin + row});
  }
  require(static_cast<std::int64_t>(in_parts.size()) == dealer_.rows_of(window), invariant::dealing,
          "the window has other rows than its parts");
  order_.row_order(window, dealer_.rows_of(window), permutation_);
  for (const std::uint32_t place : permutation_) held.rows.push_back(in_parts.at(place));
}

Dealer::Next Reader::next(int rank, DealtBatch& batch, std::vector<Row>& rows) {
  const Dealer::Next answer = dealer_.next(rank, batch);
  if (answer == Dealer::Next::batch) {
    rows.clear();
    for (const Piece& piece : batch.pieces) {
      const auto held = windows_.find(piece.window);
      require(held != windows_.end(), invariant::dealing, "a batch is of a window that was given back");
      for (std::int64_t row = piece.first; row < piece.first + piece.rows; ++row) {
        rows.push_back(held->second.rows.at(static_cast<std::size_t>(row)));
      }
    }
    require(static_cast<std::int64_t>(rows.size()) == batch.rows, invariant::dealing, "a batch lacks rows");
  }
  retire();
  return answer;
}

void Reader::retire() {
  while (const auto window = dealer_.next_retired()) {
    const auto held = windows_.find(*window);
    require(held != windows_.end(), invariant::dealing, "a window is given back twice");
    for (const std::uint64_t ticket : held->second.tickets) credits_.release(ticket);
    windows_.erase(held);
  }
}

}  // namespace headway::data::sim
