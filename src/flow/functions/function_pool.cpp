#include "flow/functions/function_pool.hpp"

#include "flow/functions/function_link.hpp"
#include "flow/functions/function_schema.hpp"
#include "flow/functions/output_schemas.hpp"
#include "flow/functions/unit_attempts.hpp"
#include "flow/functions/wider_schema.hpp"
#include "flow/functions/worker_queue.hpp"
#include "flow/unit_steps.hpp"
#include "node/resource_ledger.hpp"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace headway::flow {

std::shared_ptr<const UserFailure> UserFailure::of(const arrow::Status& status) {
  return std::dynamic_pointer_cast<const UserFailure>(status.detail());
}

static bool is_filter(const FunctionCall& call) { return call.kind == "filter"; }
/// Rows that are not of numbers alone become columns by Arrow. Workers share what the host imports.
static bool makes_rows(const FunctionCall& call) { return call.kind == "map" || call.kind == "flat_map"; }

class FunctionPool::State {
 public:
  State(std::shared_ptr<FunctionHost> host, FunctionSpec spec, std::shared_ptr<FunctionDesk> desk)
      : host_(std::move(host)),
        spec_(std::move(spec)),
        desk_(spec_.other_nodes == feed::OtherNodes::never ? nullptr : std::move(desk)),
        schemas_(std::ranges::all_of(spec_.calls, &is_filter) ? spec_.input : nullptr) {
    workers_max_ = std::max(1, spec_.workers_max > 0 ? spec_.workers_max : cores_);
  }

  arrow::Status open() {
    bool needs_arrow = spec_.input && !is_plain(*spec_.input);
    for (const FunctionCall& call : spec_.calls) {
      needs_arrow = needs_arrow || call.batch_format != "numpy" || makes_rows(call);
      host_->prepare(call.pickled, {});
    }
    if (needs_arrow) host_->prepare({}, {"pyarrow"});
    const int first = std::clamp(spec_.workers_min, 1, std::max(here_max(), 1));
    for (int i = 0; i < first; ++i) {
      ARROW_ASSIGN_OR_RAISE(auto link, FunctionLink::start(host_, spec_));
      idle_.push_back(link.get());
      links_.push_back(std::move(link));
    }
    return arrow::Status::OK();
  }

  arrow::Status process(const FunctionWork& work, const std::shared_ptr<arrow::RecordBatch>& input,
                        const FunctionSink& sink, const void* caller) {
    if (input && input->num_rows() == 0) return arrow::Status::OK();
    ARROW_ASSIGN_OR_RAISE(FunctionLink * link, acquire(work, caller));
    const bool has_input = input != nullptr;
    std::int64_t delivered = 0;
    arrow::Status done = run(*link, work, input, sink, delivered, caller);
    if (is_stopped(caller)) {
      // Its worker may be in the middle of the unit.
      if (!done.ok()) discard(link);
      release(done.ok() ? link : nullptr, work);
      return cancelled();
    }
    if (has_input && !input && FunctionLink::is_death(done)) {
      const bool is_lost = link->has_lost_unit(done);
      discard(link);
      release(nullptr, work);
      return input_is_gone(done, is_lost);
    }
    // Whatever has become of another node: the unit has its two attempts here.
    UnitAttempts attempts((work.is_second ? 1 : 2) + (link->is_elsewhere() ? 1 : 0));
    while (FunctionLink::is_death(done)) {
      if (!attempts.has_another(link->has_lost_unit(done))) {
        done = arrow::Status::IOError(spec_.name, work.where.empty() ? "" : ", ", work.where, ": the worker ",
                                      link->end_in_words(), "; this was its second attempt");
        discard(link);
        link = nullptr;
        break;
      }
      auto renewed = replaced(link, caller);
      link = renewed.ok() ? *renewed : nullptr;
      done = renewed.ok() ? run(*link, work, input, sink, delivered, caller) : renewed.status();
    }
    release(link, work);
    return done;
  }

  std::shared_ptr<arrow::Schema> schema(const std::string& giver, const void* owner) {
    const std::lock_guard lock(mutex_);
    return schemas_.of(giver, owner);
  }

  int workers() const {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(links_.size());
  }

  std::size_t workers_max() const { return step_workers(spec_); }

  std::int64_t slot_bytes() const {
    const std::lock_guard lock(mutex_);
    std::int64_t bytes = 0;
    for (const auto& link : links_) bytes += link->slot_bytes();
    return bytes;
  }

  /// Those of other nodes that have left while nobody needed them are not given a unit first.
  void desk_changed() {
    const std::lock_guard lock(mutex_);
    std::vector<const FunctionLink*> gone;
    for (const FunctionLink* link : idle_) {
      if (link->is_elsewhere() && link->has_ended()) gone.push_back(link);
    }
    const auto is_gone = [&](const FunctionLink* link) { return std::ranges::find(gone, link) != gone.end(); };
    std::erase_if(idle_, is_gone);
    std::erase_if(links_, [&](const auto& link) { return is_gone(link.get()); });
    changed_.notify_all();
  }

  void stop_caller(const void* caller) {
    const std::lock_guard lock(mutex_);
    stopped_callers_.insert(caller);
    for (const auto& [link, user] : busy_) {
      if (user == caller) link->end();
    }
    changed_.notify_all();
  }

  void forget_caller(const void* caller) {
    const std::lock_guard lock(mutex_);
    stopped_callers_.erase(caller);
    schemas_.forget(caller);
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const auto& link : links_) link->end();
    changed_.notify_all();
  }

 private:
  static arrow::Status cancelled() { return arrow::Status::Cancelled("the function's workers were stopped"); }

  /// A worker that is the caller's until `release`.
  arrow::Result<FunctionLink*> acquire(const FunctionWork& work, const void* caller) {
    std::unique_lock lock(mutex_);
    const ItemTurn* const turn = ItemTurn::current();
    const auto is_over = [&] { return stopped_ || stopped_callers_.contains(caller); };
    const bool may_await_schema = work.wait == StepWait::until_there || work.decides_schema;
    const auto has_schema = [&] { return may_await_schema || !schemas_.is_awaited(work.giver); };
    const auto may_go = [&] { return is_over() || (may_have_one() && !queue_.gives_way(turn) && has_schema()); };
    do {
      if (!queue_.await(lock, work.wait, may_go, work.on_wait)) return worker_is_busy();
      if (is_over()) return cancelled();
      if (may_take_elsewhere()) ARROW_RETURN_NOT_OK(take_elsewhere(lock));
      if (idle_.empty() && may_start_here()) ARROW_RETURN_NOT_OK(start_here(lock));
    } while (idle_.empty());
    if (work.decides_schema) schemas_.await(work.giver);
    FunctionLink* const link = take_idle();
    busy_[link] = caller;
    return link;
  }

  // With the mutex held:

  bool may_have_one() const { return !idle_.empty() || may_start_here() || may_take_elsewhere(); }

  /// Without the mutex meanwhile. The worker is idle then.
  arrow::Status start_here(std::unique_lock<std::mutex>& lock) {
    ++starting_;
    lock.unlock();
    auto started = FunctionLink::start(host_, spec_);
    lock.lock();
    --starting_;
    ARROW_RETURN_NOT_OK(started.status());
    if (stopped_) return cancelled();
    links_.push_back(started.MoveValueUnsafe());
    idle_.push_back(links_.back().get());
    return arrow::Status::OK();
  }

  bool others_first() const { return spec_.other_nodes == feed::OtherNodes::first; }

  /// The one that was used last, of those that come first.
  FunctionLink* take_idle() {
    const auto comes_first = [first = others_first()](const auto* link) { return link->is_elsewhere() == first; };
    auto found = std::ranges::find_if(idle_.rbegin(), idle_.rend(), comes_first);
    if (found == idle_.rend()) found = idle_.rbegin();
    FunctionLink* const link = *found;
    idle_.erase(std::next(found).base());
    return link;
  }

  int elsewhere() const {
    const auto links = std::ranges::count_if(links_, [](const auto& link) { return link->is_elsewhere(); });
    return static_cast<int>(links) + starting_elsewhere_;
  }

  /// How many workers this machine has at most: beside those of other nodes no more than it has
  /// cores, and none while there are others for this pool that come first.
  int here_max() const {
    if (desk_ == nullptr) return workers_max_;
    const bool has_others = elsewhere() > 0 || desk_->free() > 0;
    return others_first() && has_others ? 0 : std::min(workers_max_, cores_);
  }

  /// Where the plan names no number, every worker of another node is welcome.
  bool may_have_more() const { return spec_.workers_max == 0 || running() < workers_max_; }

  bool may_start_here() const { return running() - elsewhere() < here_max() && may_have_more(); }

  bool may_take_elsewhere() const {
    if (desk_ == nullptr || desk_->free() == 0) return false;
    const auto is_here = [](const FunctionLink* link) { return !link->is_elsewhere(); };
    const bool idle_here = std::ranges::any_of(idle_, is_here);
    return has_surplus() || (may_have_more() && (!idle_here || others_first()));
  }

  /// Whether an idle worker of this machine is one too many.
  bool has_surplus() const { return surplus() != idle_.end(); }

  std::vector<FunctionLink*>::const_iterator surplus() const {
    if (running() - elsewhere() <= here_max()) return idle_.end();
    return std::ranges::find_if(idle_, [](const FunctionLink* link) { return !link->is_elsewhere(); });
  }

  /// In the place of a worker that is one too many, if there is one. Without the mutex meanwhile:
  /// the desk's thread carries what the worker hears first, and may itself wait for the mutex.
  arrow::Status take_elsewhere(std::unique_lock<std::mutex>& lock) {
    std::optional<wire::Fd> socket = desk_->take();
    if (!socket) return arrow::Status::OK();
    ++starting_;
    ++starting_elsewhere_;
    if (const auto one = surplus(); one != idle_.end()) {
      FunctionLink* const gone = *one;
      idle_.erase(one);
      std::erase_if(links_, [&](const auto& link) { return link.get() == gone; });
    }
    lock.unlock();
    auto started = FunctionLink::start_elsewhere(host_, std::move(*socket), spec_);
    lock.lock();
    --starting_;
    --starting_elsewhere_;
    if (stopped_) return cancelled();
    links_.push_back(std::move(started));
    idle_.push_back(links_.back().get());
    return arrow::Status::OK();
  }

  bool is_stopped(const void* caller) const {
    const std::lock_guard lock(mutex_);
    return stopped_callers_.contains(caller);
  }

  int running() const { return static_cast<int>(links_.size()) + starting_; }

  void release(FunctionLink* link, const FunctionWork& work) {
    const std::lock_guard lock(mutex_);
    if (link != nullptr) idle_.push_back(link);
    busy_.erase(link);
    if (work.decides_schema) schemas_.end_await(work.giver);
    changed_.notify_all();
  }

  /// A new worker in the place of one that has ended.
  arrow::Result<FunctionLink*> replaced(FunctionLink* dead, const void* caller) {
    discard(dead);
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) return cancelled();
      ++starting_;
    }
    auto started = FunctionLink::start(host_, spec_);
    const std::lock_guard lock(mutex_);
    --starting_;
    ARROW_RETURN_NOT_OK(started.status());
    if (stopped_ || stopped_callers_.contains(caller)) return cancelled();
    links_.push_back(started.MoveValueUnsafe());
    busy_[links_.back().get()] = caller;
    return links_.back().get();
  }

  void discard(FunctionLink* dead) {
    const std::lock_guard lock(mutex_);
    busy_.erase(dead);
    std::erase_if(links_, [&](const auto& link) { return link.get() == dead; });
  }

  /// `delivered`: rows that the sink has had of this unit.
  arrow::Status run(FunctionLink& link, const FunctionWork& work, const std::shared_ptr<arrow::RecordBatch>& input,
                    const FunctionSink& sink, std::int64_t& delivered, const void* caller) {
    std::int64_t made = 0;
    const ItemHolds worker([this] {
      const std::lock_guard lock(mutex_);
      return queue_.has_awaited();
    });
    const arrow::Status done = link.process(work, input, [&](std::shared_ptr<arrow::RecordBatch> batch) {
      const std::int64_t before = std::exchange(made, made + batch->num_rows());
      if (made <= delivered) return arrow::Status::OK();
      if (before < delivered) batch = batch->Slice(delivered - before);
      ARROW_ASSIGN_OR_RAISE(batch, with_wide_categories(std::move(batch)));
      ARROW_ASSIGN_OR_RAISE(const auto schema, decided_schema(batch->schema(), work, caller));
      auto fit = fitted(batch, schema, spec_.name, work.where);
      if (!fit.ok()) return work.owner == nullptr ? fit.status() : widened_for(work.giver, batch, schema, fit.status());
      batch = fit.MoveValueUnsafe();
      delivered = made;
      return sink(std::move(batch));
    });
    const std::lock_guard lock(mutex_);
    return stopped_ ? cancelled() : done;
  }

  /// The schema of all outputs; that of this one if it is the first.
  arrow::Result<std::shared_ptr<arrow::Schema>> decided_schema(const std::shared_ptr<arrow::Schema>& own,
                                                               const FunctionWork& work, const void* caller) {
    std::unique_lock lock(mutex_);
    const auto is_over = [&] { return stopped_ || stopped_callers_.contains(caller); };
    changed_.wait(lock, [&] { return is_over() || work.decides_schema || !schemas_.is_awaited(work.giver); });
    if (is_over()) return cancelled();
    if (!schemas_.of(work.giver)) {
      schemas_.set(work.giver, own->RemoveMetadata());
      schemas_.end_await(work.giver);
      changed_.notify_all();
    }
    return schemas_.of(work.giver, work.owner);
  }

  /// Outputs of later owners have room for this one too, if a type has. Returns why it failed.
  arrow::Status widened_for(const std::string& giver, const std::shared_ptr<arrow::RecordBatch>& batch,
                            const std::shared_ptr<arrow::Schema>& schema, const arrow::Status& misfit) {
    const auto wider = wider_schema(schema, *batch->schema());
    if (wider->Equals(*schema, false) || !fitted(batch, wider, spec_.name, "").ok()) return misfit;
    const std::lock_guard lock(mutex_);
    const auto known = schemas_.of(giver);
    schemas_.set(giver, known ? wider_schema(known, *wider) : wider);
    return schema_widened(misfit);
  }

  const std::shared_ptr<FunctionHost> host_;
  const FunctionSpec spec_;
  const std::shared_ptr<FunctionDesk> desk_;
  const int cores_ = node::usable_cpus();
  int workers_max_ = 1;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<FunctionLink>> links_;
  std::vector<FunctionLink*> idle_;
  std::map<FunctionLink*, const void*> busy_;  ///< Whose call each does.
  std::set<const void*> stopped_callers_;
  WorkerQueue queue_{changed_};
  int starting_ = 0;
  int starting_elsewhere_ = 0;  ///< Of these.
  OutputSchemas schemas_;
  bool stopped_ = false;
};

FunctionPool::FunctionPool(std::shared_ptr<State> state) : state_(std::move(state)) {}

arrow::Result<std::shared_ptr<FunctionPool>> FunctionPool::open(std::shared_ptr<FunctionHost> host, FunctionSpec spec,
                                                                std::shared_ptr<FunctionDesk> desk) {
  auto state = std::make_shared<State>(std::move(host), std::move(spec), std::move(desk));
  ARROW_RETURN_NOT_OK(state->open());
  return std::shared_ptr<FunctionPool>(new FunctionPool(std::move(state)));
}

FunctionPool::~FunctionPool() { state_->stop(); }

arrow::Status FunctionPool::process(const FunctionWork& work, const std::shared_ptr<arrow::RecordBatch>& input,
                                    const FunctionSink& sink, const void* caller) {
  const std::shared_ptr<State> state = state_;  // The pool may be let go meanwhile.
  return state->process(work, input, sink, caller);
}

void FunctionPool::stop_caller(const void* caller) { state_->stop_caller(caller); }
void FunctionPool::forget_caller(const void* caller) { state_->forget_caller(caller); }

std::shared_ptr<arrow::Schema> FunctionPool::schema(const std::string& giver, const void* owner) const {
  return state_->schema(giver, owner);
}
void FunctionPool::desk_changed() { state_->desk_changed(); }
StepCalls FunctionPool::calls() const { return {state_->workers_max(), largest_call_, largest_output_}; }
int FunctionPool::workers() const { return state_->workers(); }
std::int64_t FunctionPool::slot_bytes() const { return state_->slot_bytes(); }
void FunctionPool::stop() { state_->stop(); }

}  // namespace headway::flow
