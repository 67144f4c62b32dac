#pragma once

#include "control/checkpoint_book.hpp"
#include "core/config.hpp"
#include "core/time.hpp"
#include "core/worker.hpp"

#include <cstdint>
#include <string>
#include <vector>

/// The first and the last line that a run shows.
namespace headway::control {

/// "2 workers on CPUs of this machine (node-1); results: /data/runs/digits".
std::string begin_words(const RunSpec& spec, const std::vector<WorkerPlan>& plans);

struct EndWords {
  std::string state;  ///< "finished", "errored", "aborted" or "preempted".
  Duration took{};
  std::int64_t reports = 0;      ///< Of the run, over all its drivers.
  std::int64_t new_reports = 0;  ///< Of this driver.
  int restarts = 0;
  std::string data = {};  ///< Whether ranks waited for data; empty: unknown.
};

/// "finished in 12.3 s: 20 reports, 1 restart; best checkpoint: /data/runs/digits/checkpoint_000003
/// (accuracy 0.9702)"; "8 reports (3 new)" where earlier drivers have made the others;
/// "20 reports; not data-bound (ranks waited 1 %)" where there are data sets.
std::string end_words(const RunSpec& spec, const CheckpointBook& book, const EndWords& end);

/// "0.8 s", "42 s", "3 min 20 s", "2 h 5 min".
std::string span_words(Duration span);

}  // namespace headway::control
