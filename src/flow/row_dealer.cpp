#include "flow/row_dealer.hpp"

#include <arrow/compute/cast.h>
#include <arrow/ipc/writer.h>

#include <algorithm>

namespace headway::flow {
namespace {

/// Rounds count rows from the start of the epoch. Pieces have no rounds.
data::Shares shares_of(const DealerConfig& config) {
  data::Shares shares = config.shares;
  shares.batch_rows = config.batch_rows.value_or(1);
  return shares;
}

}  // namespace

RowDealer::RowDealer(DealerConfig config, std::vector<Member> members)
    : config_(std::move(config)),
      members_(std::move(members)),
      rounds_(shares_of(config_), config_.start.rows_before),
      skip_rows_(config_.skip_rows),
      position_(config_.start),
      known_(config_.start.rows_before) {
  if (gets_own_rows()) rounds_.set_total(config_.rows_of_epoch);
}

arrow::Status RowDealer::tell_layout(const std::shared_ptr<arrow::Schema>& schema) {
  came_ = schema;
  schema_ = slot_schema(schema);
  ARROW_ASSIGN_OR_RAISE(const auto text, arrow::ipc::SerializeSchema(*schema_));
  const auto blob = std::make_shared<const std::string>(text->ToString());
  const feed::Layout layout = layout_of(*schema_, config_.layout);
  for (const Member& member : members_) member.outlet->send(wire::to_frame(layout, blob));
  return arrow::Status::OK();
}

arrow::Result<RowDealer::Rows> RowDealer::fitting(const Rows& rows) const {
  if (rows->schema() != came_ && !rows->schema()->Equals(*came_, false)) {
    return arrow::Status::Invalid("rows have other columns than those before: ", rows->schema()->ToString(),
                                  " instead of ", came_->ToString());
  }
  if (came_ == schema_) return rows;
  arrow::ArrayVector columns;
  for (int i = 0; i < rows->num_columns(); ++i) {
    const auto& type = schema_->field(i)->type();
    if (rows->column(i)->type()->Equals(*type)) {
      columns.push_back(rows->column(i));
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(columns.emplace_back(), arrow::compute::Cast(*rows->column(i), type));
  }
  return arrow::RecordBatch::Make(schema_, rows->num_rows(), std::move(columns));
}

arrow::Status RowDealer::put(Chunk chunk) {
  if (chunk.window != window_) {
    // A run that resumes begins in the middle of its first window.
    row_in_window_ = 0;
    window_ = chunk.window;
  }
  if (chunk.rows == nullptr || chunk.rows->num_rows() == 0) return arrow::Status::OK();
  if (schema_ == nullptr) ARROW_RETURN_NOT_OK(tell_layout(chunk.rows->schema()));
  ARROW_ASSIGN_OR_RAISE(Rows rows, fitting(chunk.rows));
  const std::int64_t skipped = std::min(skip_rows_, rows->num_rows());
  skip_rows_ -= skipped;
  row_in_window_ += skipped;
  if (skipped == rows->num_rows()) return arrow::Status::OK();
  if (skipped > 0) rows = rows->Slice(skipped);
  const std::int64_t count = rows->num_rows();
  held_.push_back({std::move(rows), window_, row_in_window_, std::move(chunk.credit)});
  row_in_window_ += count;
  known_ += count;
  held_rows_ += count;
  rounds_.set_known(known_);
  return config_.batch_rows ? deal_rounds() : deal_piece();
}

arrow::Status RowDealer::finish(const std::shared_ptr<arrow::Schema>& schema) {
  if (schema_ == nullptr && schema != nullptr) ARROW_RETURN_NOT_OK(tell_layout(schema));
  rounds_.set_total(known_);  // Unless it was known before.
  if (config_.batch_rows) {
    ARROW_RETURN_NOT_OK(deal_rounds());
    dropped_ = rounds_.dropped();
  } else {
    const std::int64_t most = config_.shares.rows_max;  // Those behind a limit are not missed.
    dropped_ = most < 0 ? held_rows_ : std::clamp<std::int64_t>(most - position_.rows_before, 0, held_rows_);
  }
  return arrow::Status::OK();
}

bool RowDealer::is_satisfied() const {
  if (std::all_of(members_.begin(), members_.end(), [](const Member& each) { return each.outlet->closed(); }))
    return true;
  if (gets_own_rows()) return rounds_.is_past_end(next_round_);
  const std::int64_t most = config_.shares.rows_max;
  return most >= 0 && known_ >= most;
}

/// Whether the rows of a round are there.
bool RowDealer::has_round(std::int64_t round) const {
  if (rounds_.is_past_end(round) || !rounds_.is_decided(round)) return false;
  if (!gets_own_rows()) return true;
  std::int64_t rows = 0;
  for (const int rank : config_.shares.ranks) rows += rounds_.batch(round, rank).rows;
  return rows <= held_rows_;
}

arrow::Status RowDealer::deal_rounds() {
  while (has_round(next_round_)) {
    ARROW_RETURN_NOT_OK(deal_round(next_round_));
    ++next_round_;
  }
  return arrow::Status::OK();
}

arrow::Status RowDealer::deal_round(std::int64_t round) {
  data::Position after;  // Of several lanes it is a number of rows alone.
  if (!gets_own_rows()) after = position_after(rounds_.end_row(round) - position_.rows_before);
  after.rows_before = rounds_.end_row(round);
  after.batches = position_.batches + 1;
  if (gets_own_rows()) {
    for (const int rank : config_.shares.ranks) {
      const std::vector<Rows> rows = take(rounds_.batch(round, rank).rows);
      if (!rows.empty()) ARROW_RETURN_NOT_OK(deal(rank, rows, after));
    }
    position_ = after;
    return arrow::Status::OK();
  }
  std::int64_t at = 0;
  for (int rank = 0; rank < config_.shares.world_size; ++rank) {
    const data::RowRange range = rounds_.batch(round, rank);
    take(range.begin - at);
    const std::vector<Rows> rows = take(range.rows);
    at = range.begin + range.rows;
    if (range.rows > 0) ARROW_RETURN_NOT_OK(deal(rank, rows, after));
  }
  take(after.rows_before - position_.rows_before - at);
  position_ = after;
  return arrow::Status::OK();
}

/// What there is now, in equal parts.
arrow::Status RowDealer::deal_piece() {
  std::int64_t rows = held_rows_;
  if (rounds_.knows_total()) rows = std::min(rows, config_.shares.rows_max - position_.rows_before);
  const std::int64_t clients = config_.shares.world_size;
  const std::int64_t each = config_.shares.equal ? rows / clients : rows;
  if (each <= 0) return arrow::Status::OK();
  const std::int64_t dealt = config_.shares.equal ? each * clients : rows;
  data::Position after = position_after(dealt);
  after.rows_before = position_.rows_before + dealt;
  after.batches = position_.batches + 1;
  if (config_.shares.equal) {
    for (int rank = 0; rank < clients; ++rank) ARROW_RETURN_NOT_OK(deal(rank, take(each), after));
  } else {
    ARROW_RETURN_NOT_OK(deal(static_cast<int>(position_.batches % clients), take(rows), after));
  }
  position_ = after;
  return arrow::Status::OK();
}

/// Null: it is not here.
const Member* RowDealer::member(int rank) const {
  const auto found = std::ranges::find(members_, rank, &Member::rank);
  return found == members_.end() ? nullptr : &*found;
}

/// Between two rounds, or two pieces.
void RowDealer::wait_for_need() const {
  const bool in_turn = !config_.batch_rows && !config_.shares.equal;
  const std::int64_t rank = in_turn ? position_.batches % config_.shares.world_size : config_.shares.ranks.front();
  if (const Member* const next = member(static_cast<int>(rank))) next->outlet->wait_for_need(members_.size() > 1);
}

arrow::Status RowDealer::deal(int rank, const std::vector<Rows>& rows, const data::Position& after) {
  const Member* const to = member(rank);
  if (to == nullptr || to->outlet->closed()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const SlotBatch batch, SlotBatch::plan(*schema_, rows, config_.ring.get()));
  feed::BatchInSlot place;
  place.epoch = config_.epoch;
  place.window = after.window;
  place.row = after.row;
  place.rows_before = after.rows_before;
  place.batches = after.batches;
  const auto on_wait = [this, rank](bool waits) { config_.on_wait(rank, waits); };
  const Result<bool> dealt = to->outlet->deal(batch, config_.layout, place, on_wait);
  if (!dealt) return arrow::Status::OutOfMemory(dealt.error().message);
  return arrow::Status::OK();
}

std::vector<RowDealer::Rows> RowDealer::take(std::int64_t rows) {
  std::vector<Rows> taken;
  held_rows_ -= rows;
  while (rows > 0) {
    Held& front = held_.front();
    const std::int64_t count = std::min(rows, front.rows->num_rows());
    rows -= count;
    if (count == front.rows->num_rows()) {
      taken.push_back(std::move(front.rows));
      held_.pop_front();
      continue;
    }
    taken.push_back(front.rows->Slice(0, count));
    front.rows = front.rows->Slice(count);
    front.row += count;
  }
  return taken;
}

/// Where the row lies that comes after so many of those that are held.
data::Position RowDealer::position_after(std::int64_t rows) const {
  data::Position position;
  for (const Held& held : held_) {
    const std::int64_t count = std::min(rows, held.rows->num_rows());
    position.window = static_cast<std::uint32_t>(held.window);
    position.row = held.row + count;
    rows -= count;
    if (count < held.rows->num_rows()) break;
  }
  return position;
}

}  // namespace headway::flow
