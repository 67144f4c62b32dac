// Three workers count together; one of them is killed on the way, as a machine's failure would do
// it. The group starts again from the newest checkpoint, and the count comes out as if nothing had
// happened.
//
//   example_recover [STORAGE]

#include <headway/train.hpp>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

namespace {

constexpr int steps = 20;
constexpr int killed_at = 12;

struct State {
  int step = 0;
  std::int64_t total = 0;
};

/// A new directory for a checkpoint's files. It is handed over to Headway, which removes it.
std::string new_directory() {
  std::string name = (std::filesystem::temp_directory_path() / "recover_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary directory can be made");
  return name;
}

void save(const State& state, const std::string& directory) {
  std::ofstream file(directory + "/state");
  file << state.step << ' ' << state.total << '\n';
  if (!file.flush()) throw std::runtime_error("the state cannot be written to " + directory);
}

State load(const headway::Checkpoint& checkpoint) {
  State state;
  std::ifstream file(checkpoint.path() + "/state");
  if (!(file >> state.step >> state.total)) throw std::runtime_error("no state in " + checkpoint.path());
  return state;
}

headway::Json count() {
  const headway::Context& me = headway::context();
  State state;
  if (const auto checkpoint = headway::get_checkpoint()) state = load(*checkpoint);
  const int begun_at = state.step;
  while (state.step < steps) {
    for (int rank = 0; rank < me.world_size; ++rank) {
      state.total += std::stoll(headway::broadcast(std::to_string(state.step * (me.world_rank + 1)), rank));
    }
    ++state.step;
    const headway::Json metrics = {{"step", state.step}, {"total", state.total}, {"begun_at", begun_at}};
    if (me.world_rank != 0) {
      headway::report(metrics);
    } else {
      const std::string directory = new_directory();
      save(state, directory);
      headway::report(metrics, headway::Checkpoint::from_directory(directory), {.move = true});
    }
    if (me.attempt == 1 && me.world_rank == me.world_size - 1 && state.step == killed_at) raise(SIGKILL);
  }
  return state.total;
}
HEADWAY_TRAIN_LOOP(count);

}  // namespace

int main(int argc, char** argv) {
  headway::Main guard(argc, argv);
  const headway::RunConfig run{
      .storage_path = argc > 1 ? argv[1] : "", .failure = {.max_failures = 1}, .checkpoint = {.num_to_keep = 2}};
  const auto result = headway::Trainer(count, {.scaling = {.num_workers = 3}, .run = run}).fit();
  if (!result) {
    std::cerr << result.error().message << '\n';
    return 1;
  }
  const std::int64_t expected = (1 + 2 + 3) * steps * (steps - 1) / 2;
  std::cout << "The total is " << result->return_value.as_int() << " (it should be " << expected << ") after "
            << result->attempts << " lives of the group; the last began at step "
            << result->metrics.at("begun_at").as_int() << ".\nThe newest checkpoint: " << result->checkpoint->path()
            << '\n';
  const bool recovered = result->attempts == 2 && result->metrics.at("begun_at").as_int() == killed_at;
  return recovered && result->return_value.as_int() == expected ? 0 : 1;
}
