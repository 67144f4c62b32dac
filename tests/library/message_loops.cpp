#include "library/message_loops.hpp"

#include "library/report_loops.hpp"

#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace headway::test {

namespace fs = std::filesystem;

namespace {

__attribute__((noinline)) void fall() { throw std::out_of_range("it fell"); }

__attribute__((noinline)) void slip() { throw std::out_of_range("it slipped"); }

void throw_in_task() { std::async(std::launch::async, fall).get(); }

/// The thread that threw has ended, and this one has thrown and caught many since.
void throw_by_pointer() {
  std::exception_ptr fallen;
  std::thread([&] {
    try {
      fall();
    } catch (...) {
      fallen = std::current_exception();
    }
  }).join();
  int caught = 0;
  while (caught < 1000) {
    try {
      slip();
    } catch (const std::out_of_range&) {
      ++caught;
    }
  }
  std::rethrow_exception(fallen);
}

/// What was never thrown, in the memory of what was.
void throw_what_was_made() {
  try {
    slip();
  } catch (const std::out_of_range& caught) {
    std::cout << caught.what() << std::endl;
  }
  std::rethrow_exception(std::make_exception_ptr(std::out_of_range("it was made")));
}

/// More than are noted at a time live at once; then there is space again.
void throw_after_many() {
  std::vector<std::exception_ptr> kept;
  for (int i = 0; i < 300; ++i) {
    try {
      slip();
    } catch (...) {
      kept.push_back(std::current_exception());
    }
  }
  kept.clear();
  fall();
}

Checkpoint checkpoint_of_rank() {
  std::ofstream(folder_of_rank() + "/part") << "bytes";
  return Checkpoint::from_directory(folder_of_rank());
}

Checkpoint checkpoint_in_run() {
  const std::string folder = context().run_directory + "/placed";
  fs::create_directories(folder);
  return Checkpoint::from_directory(folder);
}

void name_badly() { report({}, checkpoint_of_rank(), {.checkpoint_name = "a/b"}); }
void place_under_another_name() {
  report({}, checkpoint_in_run(), {.checkpoint_name = "best", .upload = UploadMode::none});
}
void place_outside() { report({}, checkpoint_of_rank(), {.upload = UploadMode::none}); }
void store_outside() {
  report({}, checkpoint_of_rank(),
         {.upload_function = [](const Checkpoint& local, const std::string&) { return local; }});
}

/// One rank's files are stored by a function, the other's lie there.
void report_in_two_ways() {
  if (context().world_rank == 0) {
    report({}, checkpoint_of_rank(),
           {.upload_function = [](const Checkpoint& local, const std::string&) { return local; }});
  } else {
    report({}, checkpoint_in_run(), {.upload = UploadMode::none});
  }
}

void ask_beside_a_barrier() {
  if (context().world_rank == 0) {
    (void)preemption_info();
  } else {
    barrier();
  }
}

void ask_alone() {
  if (context().world_rank == 0) (void)preemption_info();
}

void report_bytes() { report({{"ok", "\xC3\xB6"}, {"best", {{"names", {"a", "\xFF\xFE"}}}}}); }
Json return_bytes() { return {{"\xFF", 1}}; }
void report_no_directory() { report({}, Checkpoint::from_directory("")); }

void report_in_order() { report({{"x", 1}}); }

HEADWAY_TRAIN_LOOP(throw_in_task);
HEADWAY_TRAIN_LOOP(throw_by_pointer);
HEADWAY_TRAIN_LOOP(throw_what_was_made);
HEADWAY_TRAIN_LOOP(throw_after_many);
HEADWAY_TRAIN_LOOP(name_badly);
HEADWAY_TRAIN_LOOP(place_under_another_name);
HEADWAY_TRAIN_LOOP(place_outside);
HEADWAY_TRAIN_LOOP(store_outside);
HEADWAY_TRAIN_LOOP(report_in_two_ways);
HEADWAY_TRAIN_LOOP(ask_beside_a_barrier);
HEADWAY_TRAIN_LOOP(ask_alone);
HEADWAY_TRAIN_LOOP(report_bytes);
HEADWAY_TRAIN_LOOP(return_bytes);
HEADWAY_TRAIN_LOOP(report_no_directory);
HEADWAY_TRAIN_LOOP(report_in_order);

const std::map<std::string, void (*)(TrainerOptions&)> mistakes{
    {"too_many_workers", [](TrainerOptions& options) { options.scaling.num_workers = 1'000'001; }},
    {"keep_none", [](TrainerOptions& options) { options.run.checkpoint.num_to_keep = 0; }},
    {"no_score", [](TrainerOptions& options) { options.run.checkpoint.checkpoint_score_attribute = ""; }},
    {"warn_before_now", [](TrainerOptions& options) { options.run.failure.hang_warn_s = -1; }},
    {"no_sync_period", [](TrainerOptions& options) { options.run.sync.sync_period = 0; }},
    {"sync_for_ever", [](TrainerOptions& options) { options.run.sync.sync_timeout = std::nan(""); }},
    {"no_accelerator", [](TrainerOptions& options) { options.scaling.accelerator_type = ""; }},
    {"gpu_without_use", [](TrainerOptions& options) { options.scaling.resources_per_worker = Resources{{"GPU", 1}}; }},
    {"use_without_gpu",
     [](TrainerOptions& options) {
       options.scaling.use_gpu = true;
       options.scaling.resources_per_worker = Resources{{"GPU", 0}};
     }},
    {"three_selectors",
     [](TrainerOptions& options) { options.scaling.label_selector = std::vector<Labels>(3, {{"x", "y"}}); }},
    {"selectors_of_elastic_group",
     [](TrainerOptions& options) {
       options.scaling.min_workers = 1;
       options.scaling.label_selector = std::vector<Labels>(2, {{"x", "y"}});
     }},
};

}  // namespace

std::map<std::string, TrainLoop> message_loops() {
  std::map<std::string, TrainLoop> loops{{"throw_in_task", throw_in_task},
                                         {"throw_by_pointer", throw_by_pointer},
                                         {"throw_what_was_made", throw_what_was_made},
                                         {"throw_after_many", throw_after_many},
                                         {"name_badly", name_badly},
                                         {"place_under_another_name", place_under_another_name},
                                         {"place_outside", place_outside},
                                         {"store_outside", store_outside},
                                         {"report_in_two_ways", report_in_two_ways},
                                         {"ask_beside_a_barrier", ask_beside_a_barrier},
                                         {"ask_alone", ask_alone},
                                         {"report_bytes", report_bytes},
                                         {"return_bytes", return_bytes},
                                         {"report_no_directory", report_no_directory},
                                         {"main_ended", report_in_order},
                                         {"main_blocked", report_in_order},
                                         {"main_not_reached", report_in_order}};
  for (const auto& [mode, mistake] : mistakes) loops.emplace(mode, report_in_order);
  return loops;
}

void make_wrong(const std::string& mode, TrainerOptions& options) {
  if (const auto mistake = mistakes.find(mode); mistake != mistakes.end()) mistake->second(options);
}

}  // namespace headway::test
