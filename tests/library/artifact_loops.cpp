#include "library/artifact_loops.hpp"

#include "library/report_loops.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace headway::test {

namespace fs = std::filesystem;

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void wait_for(const std::string& path, const std::string& text) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (text_of(path) != text) {
    if (std::chrono::steady_clock::now() > limit) throw std::runtime_error(path + " has not come");
    std::this_thread::yield();
  }
}

std::string artifact(const std::string& name) { return context().run_directory + "/artifacts/" + name; }

std::string own_name() { return "rank_" + std::to_string(context().world_rank); }

void tell_directory() {
  std::cout << "works in trial_dir " << (fs::current_path() == context().trial_dir) << ", which is "
            << context().trial_dir << std::endl;
}

void share_directory() {
  std::ofstream(own_name()) << "x";
  barrier();
  std::cout << "sees " << std::distance(fs::directory_iterator("."), {}) << std::endl;
  tell_directory();
  barrier();
  fs::remove(own_name());
}

void write_and_return() {
  std::ofstream("notes_of_" + own_name()) << "mine";
  tell_directory();
}

void write_and_throw() {
  if (own_name() != "rank_0") return;  // Killed in the midst, it would leave the same file empty.
  std::ofstream("last_words") << "nan";
  throw std::runtime_error("diverged");
}

/// What was there at the checkpoint comes while the loop goes on; the rest, when it has returned.
void sync_at_checkpoint() {
  fs::create_directories("plots/" + own_name());
  std::ofstream("plots/" + own_name() + "/first") << "first";
  std::ofstream(folder_of_rank() + "/state_of_" + own_name()) << "s";
  report({}, Checkpoint::from_directory(folder_of_rank()));
  for (const std::string rank : {"rank_0", "rank_1"}) wait_for(artifact("plots/" + rank + "/first"), "first");
  barrier();
  std::ofstream("plots/" + own_name() + "/second") << "second";
}

/// Nothing is reported. What has come and is the same does not come again, though it is not what it
/// was any more where it came to.
void sync_every_period() {
  if (context().world_rank != 0) return;
  std::ofstream("same") << "same";
  std::ofstream("grows") << "1";
  wait_for(artifact("same"), "same");
  wait_for(artifact("grows"), "1");
  std::ofstream(artifact("same")) << "copied before";
  std::ofstream("grows", std::ios::app) << "2";
  wait_for(artifact("grows"), "12");
  std::cout << "the same file is " << text_of(artifact("same")) << std::endl;
}

/// More than can be copied in time: what was never written takes no place here, but there it would.
void write_too_much() {
  if (context().world_rank != 0) return;
  std::ofstream("large") << "x";
  fs::resize_file("large", std::uintmax_t{64} << 30);
}

void stay_with_the_driver() {
  tell_directory();
  std::cout << "the driver's data: " << text_of("data.txt") << std::endl;
  std::ofstream(context().trial_dir + "/artifact_of_" + own_name()) << "here";
}

void go_on_in_directory() {
  std::ofstream("lives_of_" + own_name(), std::ios::app) << "x";
  barrier();
  std::cout << "lives " << text_of("lives_of_" + own_name()) << std::endl;
  if (context().attempt == 1) raise(SIGKILL);
}

HEADWAY_TRAIN_LOOP(share_directory);
HEADWAY_TRAIN_LOOP(write_and_return);
HEADWAY_TRAIN_LOOP(write_and_throw);
HEADWAY_TRAIN_LOOP(sync_at_checkpoint);
HEADWAY_TRAIN_LOOP(sync_every_period);
HEADWAY_TRAIN_LOOP(write_too_much);
HEADWAY_TRAIN_LOOP(stay_with_the_driver);
HEADWAY_TRAIN_LOOP(go_on_in_directory);

}  // namespace

std::map<std::string, TrainLoop> artifact_loops() {
  return {{"share_directory", share_directory},       {"leave_files", write_and_return},
          {"sync_at_end", write_and_return},          {"sync_after_failure", write_and_throw},
          {"sync_at_checkpoint", sync_at_checkpoint}, {"sync_every_period", sync_every_period},
          {"sync_too_slowly", write_too_much},        {"sync_from_trial_dir", stay_with_the_driver},
          {"go_on_in_directory", go_on_in_directory}};
}

void add_sync(const std::string& mode, TrainerOptions& options) {
  options.run.sync.sync_artifacts = mode.starts_with("sync_");
  if (mode == "sync_every_period")
    options.run.sync = {.sync_period = 0.05, .sync_artifacts = true, .sync_artifacts_on_checkpoint = false};
  if (mode == "sync_too_slowly") options.run.sync.sync_timeout = 0.05;
  if (mode == "sync_from_trial_dir") std::ofstream(options.run.storage_path + "/data.txt") << "some data";
  if (mode == "go_on_in_directory") options.run.failure.max_failures = 1;
}

}  // namespace headway::test
