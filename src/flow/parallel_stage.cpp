#include "flow/parallel_stage.hpp"

#include "flow/batch_bytes.hpp"
#include "flow/placed.hpp"
#include "wire/thread_pool.hpp"

#include <algorithm>
#include <exception>

namespace headway::flow {
namespace {

/// What an item may have waiting beyond its credit.
constexpr std::int64_t waiting_min = 4 << 20;
/// So often an item whose rows wait looks whether it is in the way.
constexpr auto look_again = std::chrono::milliseconds(100);

arrow::Status cancelled() { return arrow::Status::Cancelled("the stream was closed"); }

arrow::Status at(const arrow::Status& status, const std::string& where) {
  const bool is_elsewhere = where.empty() || status.IsCancelled() || is_placed(status);
  if (status.ok() || is_elsewhere || status.message().find(where) != std::string::npos) return status;
  return status.WithMessage(where, ": ", status.message());
}

}  // namespace

ParallelStage::ParallelStage(Budget& budget, ParallelLimits limits, std::shared_ptr<arrow::Schema> schema,
                             NextItem next_item, std::function<void()> on_stop)
    : budget_(budget),
      limits_(std::move(limits)),
      schema_(std::move(schema)),
      next_item_(std::move(next_item)),
      on_stop_(std::move(on_stop)) {
  const auto changed = [this] {
    const std::lock_guard lock(mutex_);
    limits_changed_ = true;
    rows_came_.notify_all();
  };
  if (limits_.demand) limits_.demand->tell(this, changed);
  if (limits_.others.tell) limits_.others.tell(this, changed);
}

ParallelStage::~ParallelStage() {
  if (limits_.demand) limits_.demand->tell(this, nullptr);
  if (limits_.others.tell) limits_.others.tell(this, nullptr);
  stop();
  for (std::thread& thread : threads_) thread.join();
}

void ParallelStage::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  something_to_do_.notify_all();
  rows_came_.notify_all();
  rows_left_.notify_all();
  if (on_stop_) on_stop_();
}

/// With the mutex held, before what it depends on changes.
void ParallelStage::count_idle() {
  const SteadyTime now = std::chrono::steady_clock::now();
  const Nanoseconds time = now - std::exchange(idle_since_, now);
  if (idle_ == 0 || !idle_for_) return;
  for (const auto& gauge : gauges_) gauge->spent(*idle_for_, time * static_cast<std::int64_t>(idle_));
}

void ParallelStage::idle_for(std::optional<StageGauge::Doing> reason) {
  const std::lock_guard lock(mutex_);
  count_idle();
  idle_for_ = reason;
}

std::shared_ptr<Credit> ParallelStage::counted(Credit credit) const {
  if (gauges_.empty()) return std::make_shared<Credit>(std::move(credit));
  const std::shared_ptr<StageGauge> gauge = gauges_.front();
  gauge->held(credit.bytes());
  return {new Credit(std::move(credit)), [gauge](Credit* held) {
            gauge->held(-held->bytes());
            delete held;
          }};
}

std::size_t ParallelStage::items_ahead() const {
  return limits_.demand && !limits_.demand->is_there() ? 1 : limits_.items_ahead + others();
}

/// With the mutex held.
void ParallelStage::tell_if_idle() {
  if (!limits_.on_idle || !no_more_items_ || told_idle_) return;
  const auto is_done = [](const auto& each) { return each->done; };
  const auto is_taken = [](const auto& each) { return each->taken && each->status.ok(); };
  if (idle_ == 0 && !std::ranges::all_of(running_, is_done)) return;
  if (!std::ranges::all_of(running_, is_taken)) return;
  told_idle_ = true;
  limits_.on_idle();
}

arrow::Status ParallelStage::begin_items() {
  idle_for(StageGauge::Doing::waits_for_input);
  const arrow::Status begun = begin_all_items();
  const bool lacks_memory = waiting_ || is_full_of_large_rows();
  const auto reason = lacks_memory ? StageGauge::Doing::waits_for_memory : StageGauge::Doing::waits_for_output;
  idle_for(no_more_items_ ? std::nullopt : std::optional(reason));
  return begun;
}

/// What the next item may need; none while others wait for more.
std::optional<std::int64_t> ParallelStage::bytes_of_next() {
  const std::lock_guard lock(mutex_);
  if (without_credit_ > 0 && !running_.empty()) return std::nullopt;
  return std::max(waiting_->bytes, std::min(needed_, budget_.bytes() / 2));
}

/// Whether there is no memory for another item as large as the last one, which would be its rows.
bool ParallelStage::is_full_of_large_rows() {
  if (!limits_.items_hold_rows || running_.empty()) return false;
  const std::lock_guard lock(mutex_);
  const std::int64_t bytes = std::max(needed_, running_.back()->item.bytes);
  return bytes >= Budget::large && budget_.is_full_for(bytes);
}

/// Before there is a demand, one item is under way. Where it is the only one, that is known then:
/// `next` may not be called again before most of its rows were used.
bool ParallelStage::looks_for_last() const { return limits_.on_idle && limits_.demand && !limits_.demand->is_there(); }

/// As many as there is credit for; one in any case.
arrow::Status ParallelStage::begin_all_items() {
  while (!no_more_items_) {
    const bool is_full = running_.size() >= items_ahead();
    if (is_full && !looks_for_last()) return arrow::Status::OK();
    if (!waiting_) {
      if (is_full_of_large_rows()) return arrow::Status::OK();
      ARROW_ASSIGN_OR_RAISE(waiting_, next_item_());
      if (!waiting_) {
        const std::lock_guard lock(mutex_);
        no_more_items_ = true;
        tell_if_idle();
        return arrow::Status::OK();
      }
    }
    if (is_full) return arrow::Status::OK();
    Credit credit;
    const std::optional<std::int64_t> bytes = bytes_of_next();
    if (!bytes) return arrow::Status::OK();
    if (!budget_.try_take(*bytes, credit)) {
      if (!running_.empty()) return arrow::Status::OK();
      if (limits_.demand) limits_.demand->wait_for_need();
      credit = budget_.take(*bytes);
    }
    auto running = std::make_shared<Running>();
    running->item = std::move(*waiting_);
    running->credit = counted(std::move(credit));
    waiting_.reset();
    {
      const std::lock_guard lock(mutex_);
      running_.push_back(std::move(running));
      something_to_do_.notify_one();
      if (!lacks_thread()) continue;
    }
    start_thread();
  }
  return arrow::Status::OK();
}

bool ParallelStage::lacks_thread() const {
  const auto untaken = std::count_if(running_.begin(), running_.end(), [](const auto& each) { return !each->taken; });
  return static_cast<std::size_t>(untaken) > idle_;
}

/// Where the system gives no thread, those that there are do the work; the first one has to come.
void ParallelStage::start_thread() {
  if (threads_.size() >= limits_.threads + others()) return;
  Result<std::thread> thread = wire::start_thread([this] { work(); });
  if (thread) {
    threads_.push_back(std::move(*thread));
    for (const auto& gauge : gauges_) gauge->set_threads(threads_.size());
  } else if (threads_.empty()) {
    const std::lock_guard lock(mutex_);
    running_.front()->taken = true;
    running_.front()->done = true;
    running_.front()->status = arrow::Status::IOError(thread.error().message);
  }
}

void ParallelStage::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    const auto found = std::find_if(running_.begin(), running_.end(), [](const auto& each) { return !each->taken; });
    if (stopped_) return;
    if (found == running_.end()) {
      count_idle();
      ++idle_;
      tell_if_idle();
      something_to_do_.wait(lock);
      count_idle();
      --idle_;
      continue;
    }
    // It stays until it is done.
    Running& running = **found;
    running.taken = true;
    lock.unlock();
    arrow::Status status;
    running.turn.await_room = [this, &running](const std::function<StepCalls()>& calls, StepWait wait) {
      return await_room(running, calls, wait);
    };
    ItemTurn::current() = &running.turn;
    try {
      status =
          running.item.work([&](std::shared_ptr<arrow::RecordBatch> rows) { return put(running, std::move(rows)); });
    } catch (const std::exception& failure) {
      status = arrow::Status::UnknownError(failure.what());
    }
    running.item.work = nullptr;
    ItemTurn::current() = nullptr;
    lock.lock();
    running.status = at(status, running.item.where);
    running.done = true;
    tell_if_idle();
    rows_came_.notify_all();
  }
}

/// With the mutex held: whether an item has credit for its next rows, too, or now gets it.
bool ParallelStage::has_credit(Running& running, std::int64_t bytes, bool in_any_case) {
  const std::int64_t needed = running.bytes_waiting + bytes;
  const std::int64_t lacking = needed - running.credit->bytes();
  if (lacking > 0) {
    const bool is_awaited = is_first(running) && running.rows.empty() && running.turn.awaited;
    if (in_any_case || is_awaited) {
      budget_.grow(*running.credit, lacking);
    } else if (!budget_.try_grow(*running.credit, lacking)) {
      return false;
    }
    if (!gauges_.empty()) gauges_.front()->held(lacking);
  }
  return true;
}

/// Whoever is asked may wait for threads that need the mutex.
bool ParallelStage::is_in_the_way(std::unique_lock<std::mutex>& lock, const Running& running) {
  if (!running.turn.is_in_the_way) return false;
  lock.unlock();
  const bool found = running.turn.is_in_the_way();
  lock.lock();
  return found;
}

/// Until the item may go on. False: before that, since it is in the way.
bool ParallelStage::await(std::unique_lock<std::mutex>& lock, const Running& running,
                          const std::function<bool()>& may_go) {
  while (!stopped_ && !may_go()) {
    if (running.item.is_quick) rows_came_.notify_all();
    if (is_in_the_way(lock, running)) return false;
    if (!running.turn.is_in_the_way) {
      rows_left_.wait(lock);
    } else if (!stopped_ && !may_go()) {
      rows_left_.wait_for(lock, look_again);
    }
  }
  return true;
}

bool ParallelStage::has_room(const Running& running, std::int64_t bytes) {
  return running.rows.empty() || running.bytes_waiting + bytes <= std::max(running.item.bytes, waiting_min);
}

/// Until the first item has shown how large a step's outputs are; the others begin without that
/// where a call takes long, or slow functions would begin one after another. False: before that,
/// since the item is in the way.
bool ParallelStage::await_sizes(std::unique_lock<std::mutex>& lock, const Running& running,
                                const std::function<StepCalls()>& calls) {
  const auto end = std::chrono::steady_clock::now() + limits_.sizes_wait;
  bool is_needed_elsewhere = false;
  ++without_sizes_;
  while (!stopped_ && !is_first(running) && calls().largest < 0) {
    is_needed_elsewhere = is_in_the_way(lock, running);
    const auto now = std::chrono::steady_clock::now();
    if (is_needed_elsewhere || now >= end) break;
    rows_left_.wait_until(lock, std::min(end, now + look_again));
  }
  --without_sizes_;
  return !is_needed_elsewhere;
}

/// See ItemTurn.
bool ParallelStage::await_room(Running& running, const std::function<StepCalls()>& calls, StepWait wait) {
  std::unique_lock lock(mutex_);
  const bool are_few = calls().workers < limits_.threads + others();
  if (!are_few && calls().largest < 0 && !is_first(running)) {
    if (wait == StepWait::not_at_all || !await_sizes(lock, running, calls)) return false;
  }
  const auto is_large = [&] { return calls().largest >= Budget::large; };
  const auto has_space = [&] {
    if (!are_few && !is_large()) return true;
    return has_room(running, is_first(running) || !are_few ? 0 : std::max<std::int64_t>(calls().bytes, 0));
  };
  const auto may_begin = [&] {
    if (is_large()) return has_credit(running, 2 * calls().largest);
    return !are_few || is_first(running) || (calls().bytes >= 0 && has_credit(running, calls().bytes));
  };
  if (has_space() && may_begin()) return true;
  if (wait == StepWait::not_at_all || !await(lock, running, has_space)) return false;
  ++without_credit_;
  const bool begins = await(lock, running, may_begin);
  --without_credit_;
  return begins;
}

arrow::Status ParallelStage::put(Running& running, std::shared_ptr<arrow::RecordBatch> rows) {
  if (rows->num_rows() == 0) return arrow::Status::OK();
  const std::int64_t bytes = batch_bytes(*rows);
  std::unique_lock lock(mutex_);
  bool waits = await(lock, running, [&] { return has_room(running, bytes); });
  if (waits && !has_credit(running, bytes)) {
    ++without_credit_;
    waits = await(lock, running, [&] { return has_credit(running, bytes); });
    --without_credit_;
  }
  if (stopped_) return cancelled();
  if (!waits) has_credit(running, bytes, true);
  running.rows.push_back({std::move(rows), bytes});
  running.bytes_waiting += bytes;
  needed_ = std::max(needed_, running.bytes_waiting);
  if (without_sizes_ > 0) rows_left_.notify_all();
  if (is_first(running) && !running.item.is_quick) rows_came_.notify_all();
  if (!waits || !budget_.is_full_for(bytes)) return arrow::Status::OK();
  // Memory is full: no more is made before these rows are used and others are needed.
  ++without_credit_;
  await(lock, running, [&] { return running.rows.empty() && running.turn.awaited; });
  --without_credit_;
  return stopped_ ? cancelled() : arrow::Status::OK();
}

/// While memory is full, the first item makes no large rows for clients that have some.
void ParallelStage::wait_for_need() {
  if (!limits_.demand || running_.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    const Running& front = *running_.front();
    if (front.done || !front.rows.empty() || needed_ < Budget::large || !budget_.is_full_for(needed_)) return;
  }
  limits_.demand->wait_for_need();
}

/// Begins what may be, until the first item has rows or is done. Null: there is no item any more.
arrow::Result<std::shared_ptr<ParallelStage::Running>> ParallelStage::await_front() {
  while (true) {
    wait_for_need();
    if (!running_.empty()) running_.front()->turn.awaited = true;
    ARROW_RETURN_NOT_OK(begin_items());
    std::unique_lock lock(mutex_);
    if (without_credit_ > 0) rows_left_.notify_all();
    if (running_.empty()) return nullptr;
    std::shared_ptr<Running> front = running_.front();
    front->turn.awaited = true;
    const auto has_come = [&] { return stopped_ || front->done || !front->rows.empty(); };
    rows_came_.wait(lock, [&] { return has_come() || limits_changed_; });
    limits_changed_ = false;
    if (has_come()) return front;
  }
}

arrow::Result<std::optional<Chunk>> ParallelStage::next() {
  ARROW_ASSIGN_OR_RAISE(const std::shared_ptr<Running> front, await_front());
  if (!front) return std::nullopt;
  front->turn.awaited = false;
  const std::lock_guard lock(mutex_);
  if (stopped_) return cancelled();
  if (!front->rows.empty()) {
    Waiting waiting = std::move(front->rows.front());
    front->rows.pop_front();
    front->bytes_waiting -= waiting.bytes;
    const bool last = front->done && front->rows.empty() && front->status.ok();
    if (last) running_.pop_front();
    rows_left_.notify_all();
    return chunk_of(*front, std::move(waiting.rows), last);
  }
  const bool left_out = limits_.errored != nullptr && !front->status.ok() && limits_.errored->leave_out(front->status);
  if (!left_out) ARROW_RETURN_NOT_OK(front->status);
  running_.pop_front();
  rows_left_.notify_all();
  return chunk_of(*front, nullptr, true);
}

Chunk ParallelStage::chunk_of(const Running& front, std::shared_ptr<arrow::RecordBatch> rows, bool last) {
  Chunk chunk;
  chunk.rows = std::move(rows);
  chunk.window = front.item.window;
  chunk.unit = front.item.unit;
  chunk.ends_unit = last && front.item.ends_unit;
  chunk.credit = front.credit;
  return chunk;
}

}  // namespace headway::flow
