#include "sim/faults.hpp"

#include <iterator>
#include <utility>

namespace headway::sim {
namespace {

/// How rare a fault is, where it could happen: one in this many times. What could happen often is
/// rare each time.
constexpr std::pair<Fault, int> rarities[] = {
    {Fault::abort, 400},
    {Fault::append_fails, 10},
    {Fault::callback_fails, 20},
    {Fault::calls_differ, 60},
    {Fault::begin_fails, 12},
    {Fault::checkpoint_pinned, 8},
    {Fault::commit_fails, 10},
    {Fault::commit_lies, 10},
    {Fault::copy_fails, 8},
    {Fault::copy_hangs, 10},
    {Fault::crash, 40},
    {Fault::deaf_to_sigterm, 4},
    {Fault::delete_fails, 4},
    {Fault::discard_fails, 4},
    {Fault::driver_dies, 60},
    {Fault::driver_ends, 200},
    {Fault::driver_preempted, 200},
    {Fault::echo, 25},
    {Fault::exit_code, 6},
    {Fault::exit_handler_hangs, 6},
    {Fault::exits_unasked, 6},
    {Fault::folder_lost, 60},
    {Fault::hangs, 20},
    {Fault::journal_fails, 4},
    {Fault::late_timer, 4},
    {Fault::node_lost, 250},
    {Fault::node_preempted, 250},
    {Fault::nodes_refused, 20},
    {Fault::overtaken, 80},
    {Fault::raise, 25},
    {Fault::returns_early, 25},
    {Fault::returns_in_report, 25},
    {Fault::capacity_changes, 100},
    {Fault::setup_fails, 5},
    {Fault::slow_exit, 6},
    {Fault::slow_hook, 5},
    {Fault::slow_message, 25},
    {Fault::slow_start, 6},
    {Fault::slow_storage, 12},
    {Fault::stale_event, 20},
    {Fault::stop_asked, 40},
    {Fault::storage_not_shared, 40},
    {Fault::storage_refused, 20},
    {Fault::sweep_fails, 4},
    {Fault::sync_fails, 8},
    {Fault::upload_fails, 12},
    {Fault::validation_crashes, 6},
    {Fault::validation_hangs, 6},
    {Fault::validation_raises, 6},
};
static_assert(std::size(rarities) == fault_kinds);

}  // namespace

const char* to_string(Fault fault) { return boost::describe::enum_to_string(fault, "?"); }

Faults::Faults(Random& random) : random_(&random), left_(4 + random.below(16)) {
  // Half of the seeds have every kind; the others half of them, and those more often.
  const bool every_kind = random.one_in(2);
  for (const auto& [fault, usual] : rarities) {
    int& one_in = one_in_[static_cast<std::size_t>(fault)];
    if (every_kind) {
      one_in = usual;
    } else if (random.one_in(2)) {
      one_in = std::max(2, usual / 2);
    }
  }
}

bool Faults::happen(Fault fault, Time now) {
  const int one_in = one_in_[static_cast<std::size_t>(fault)];
  if (left_ == 0 || one_in == 0 || !random_->one_in(one_in)) return false;
  --left_;
  ++counts_[static_cast<std::size_t>(fault)];
  last_ = now;
  return true;
}

}  // namespace headway::sim
