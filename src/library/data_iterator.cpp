#include "library/data_iterator.hpp"

#include "library/batch_functions.hpp"
#include "library/data_client.hpp"

#include <exception>
#include <limits>
#include <unistd.h>
#include <utility>

namespace headway::data {
namespace {

constexpr std::int64_t state_version = 1;
/// What a rank gets at a time where it asks for pieces as they are.
constexpr std::int64_t rows_of_piece = 4096;

[[noreturn]] void refuse_option(const char* name, std::int64_t value, const char* allowed) {
  throw BadResult({ErrorKind::invalid_argument,
                   "BatchOptions." + std::string(name) + " is " + std::to_string(value) + "; allowed: " + allowed});
}

void check(const BatchOptions& options) {
  const char* above_0 = "none, or an integer above 0";
  if (options.batch_size && *options.batch_size < 1) refuse_option("batch_size", *options.batch_size, above_0);
  if (options.prefetch_batches < 0) refuse_option("prefetch_batches", options.prefetch_batches, "0 or more");
  const auto& window = options.local_shuffle_buffer_size;
  if (window && *window < 1) refuse_option("local_shuffle_buffer_size", *window, above_0);
  if (window && !options.batch_size) {
    refuse_option("local_shuffle_buffer_size", *window, "together with a batch_size");
  }
  constexpr auto seed_max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (options.local_shuffle_seed && *options.local_shuffle_seed > seed_max) {
    throw BadResult({ErrorKind::invalid_argument, "BatchOptions.local_shuffle_seed is " +
                                                      std::to_string(*options.local_shuffle_seed) +
                                                      "; allowed: none, or 0 to 2^63 - 1"});
  }
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(static_cast<std::int64_t>(*value)) : Json();
}

/// Whose epochs these are, where no group says it.
std::string stream_name(const IteratorState& state) {
  if (!state.group.empty() && state.world_size > 1) return {};
  return std::to_string(getpid()) + "-" + std::to_string(state.number);
}

/// As the data process reads it.
Json consumption_of(const IteratorState& state, const BatchOptions& options) {
  Json batch_size = or_null(options.batch_size);
  if (!state.group.empty() && !options.batch_size) batch_size = rows_of_piece;
  return {{"batch_size", batch_size},
          {"drop_last", options.drop_last},
          {"shuffle_window_rows", or_null(options.local_shuffle_buffer_size)},
          {"seed", or_null(options.local_shuffle_seed ? options.local_shuffle_seed : state.seed)},
          {"epoch", state.epoch},
          {"group", state.group},
          {"world_size", state.world_size},
          {"rank", state.rank},
          {"clients_here", state.clients_here},
          {"lanes", state.lanes},
          {"equal", !state.group.empty()},
          {"prefetch", options.prefetch_batches},
          {"cursor", state.cursor()},
          {"iterator", stream_name(state)},
          {"more", state.more}};
}

/// Rows stay: the position counts them.
void check_rows(const Batch& batch) {
  for (const Column& column : batch.columns()) {
    if (column.rows() == batch.rows()) continue;
    throw BadResult({ErrorKind::invalid_argument, "a function of map_batches() has given column \"" + column.name() +
                                                      "\" " + std::to_string(column.rows()) +
                                                      " rows; allowed: those of the batch, " +
                                                      std::to_string(batch.rows())});
  }
}

}  // namespace

/// One loop over an epoch, or over the rest of one.
class EpochRun {
 public:
  EpochRun(std::shared_ptr<IteratorState> state, const BatchOptions& options) : state_(std::move(state)) {
    if (state_->moving != 0) {  // The loop before was left in the middle.
      ++state_->epoch;
      state_->place = nullptr;
      state_->moving = 0;
    }
    epoch_ = state_->epoch;
    const std::string consumption = consumption_of(*state_, options).dump();
    more_ = std::exchange(state_->more, false);
    stream_ = library::open_data(state_->dataset.plan().dump(), consumption, state_->name).value();
    loop_ = state_->moving = ++state_->loops;
  }
  ~EpochRun() {
    stream_.reset();
    end();
  }
  EpochRun(const EpochRun&) = delete;
  EpochRun& operator=(const EpochRun&) = delete;

  /// The next batch, whose rows count as consumed from now on. What it throws it throws again.
  void advance() {
    rethrow();
    try {
      take();
    } catch (...) {
      batch_.reset();
      failure_ = std::current_exception();
      throw;
    }
  }

  const Batch& batch() const {
    rethrow();
    if (!batch_) throw BadResult({ErrorKind::invalid_argument, "an iterator of batches is read at its end"});
    return *batch_;
  }
  bool at_end() const { return !batch_ && failure_ == nullptr; }

 private:
  void rethrow() const {
    if (failure_ != nullptr) std::rethrow_exception(failure_);
  }

  void take() {
    batch_.reset();  // Its memory is the data process's again.
    auto taken = stream_->next().value();
    state_->before.reset();
    if (!taken) {
      if (more_) state_->before = std::move(stream_);
      stream_.reset();
      state_->more = true;
      end();
      return;
    }
    batch_ = std::move(taken->batch);
    library::call_batch_functions(state_->dataset.functions(), *batch_);
    check_rows(*batch_);
    if (state_->moving == loop_) state_->place = std::move(taken->cursor_json);
  }

  void end() {
    if (state_->moving != loop_) return;
    state_->epoch = epoch_ + 1;
    state_->place = nullptr;
    state_->moving = 0;
  }

  std::shared_ptr<IteratorState> state_;
  std::int64_t loop_ = 0;
  std::int64_t epoch_ = 0;
  bool more_ = false;  ///< It was said that the next epoch is likely.
  std::unique_ptr<library::DataStream> stream_;
  std::optional<Batch> batch_;
  std::exception_ptr failure_;
};

const Batch& Epochs::Iterator::operator*() const { return run_->batch(); }

Epochs::Iterator& Epochs::Iterator::operator++() {
  if (!run_->at_end()) run_->advance();
  return *this;
}

bool Epochs::Iterator::operator==(std::default_sentinel_t) const { return run_->at_end(); }

Epochs::Epochs(std::shared_ptr<IteratorState> state, BatchOptions options)
    : state_(std::move(state)), options_(options) {
  check(options_);
}

Epochs::Iterator Epochs::begin() const {
  const auto run = std::make_shared<EpochRun>(state_, options_);
  run->advance();
  return Iterator(run);
}

Epochs DataIterator::batches(const BatchOptions& options) const { return {state_, options}; }

Json DataIterator::state() const {
  Json state = {{"version", state_version}, {"epoch", state_->epoch}, {"cursor", state_->cursor()}};
  if (state_->lanes > 1) state["lanes"] = state_->lanes;
  return state;
}

void DataIterator::load_state(const Json& state) {
  const bool is_state = state.is_object() && state.contains("epoch") && state.contains("cursor") &&
                        state.value_or("version", std::int64_t{0}) == state_version && state.at("epoch").is_integer();
  if (!is_state) {
    throw BadResult(
        {ErrorKind::invalid_argument, "state is " + state.dump() + "; allowed: what DataIterator::state() gave"});
  }
  state_->epoch = state.at("epoch").as_int();
  state_->place = nullptr;
  if (!state.at("cursor").is_null()) state_->place = [cursor = state.at("cursor").dump()] { return cursor; };
  // Whatever machines there are now: what a step trains is the same.
  state_->lanes = static_cast<int>(state.value_or("lanes", std::int64_t{1}));
  state_->moving = 0;
}

}  // namespace headway::data
