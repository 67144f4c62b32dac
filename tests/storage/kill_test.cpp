#include "core/fault_point.hpp"
#include "storage/scratch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <set>

/// A process dies by SIGKILL at each step in turn; its parent must find a complete checkpoint or
/// none, and no orphan.
namespace headway::storage {

namespace {

/// Whether a child that runs `work` with the `step`-th fault point armed was killed there (else it
/// came to its end).
bool killed_at(const char* point, int step, const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    arm_fault_point(point, step);
    ::_exit(work() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    BOOST_TEST(WTERMSIG(status) == SIGKILL);
    return true;
  }
  BOOST_TEST(WEXITSTATUS(status) == 0);
  return false;
}

bool save_quietly(const std::string& source, const std::string& directory, Transfer transfer) {
  const Result<std::vector<FileRecord>> files = list_files(source);
  if (!files || !begin_checkpoint(directory)) return false;
  const Result<std::vector<FileRecord>> uploaded = upload(source, directory, names_of(*files), 0, transfer);
  return uploaded && commit(directory, manifest_of("new", 1, *uploaded));
}

/// All that lies in a directory, whatever it is.
}  // namespace

BOOST_FIXTURE_TEST_SUITE(kill_suite, Scratch)

void die_at_each_step_of_saving(Scratch& scratch, Transfer transfer) {
  scratch.write("first/model.pt", "first");
  const std::string before = save(scratch, "before", 0, scratch.path("first"));
  const std::string directory = scratch.run + "/new";
  int committed = 0;
  int step = 1;
  for (;; ++step) {
    BOOST_TEST_CONTEXT("killed at fault point number " << step) {
      scratch.write("source/a.pt", "a");
      scratch.write("source/deep/b.pt", "b");
      const bool killed =
          killed_at("*", step, [&] { return save_quietly(scratch.path("source"), directory, transfer); });
      must(sweep(scratch.run));
      must(verify(before));
      const std::vector<std::string> listed = names_of(must(list_checkpoints(scratch.run)));
      if (listed.size() == 2) {
        ++committed;
        must(verify(directory));
        BOOST_TEST(must(read_manifest(directory)).files.size() == 2u);
        must(remove_checkpoint(directory));
      }
      BOOST_TEST((entries(scratch.run) == std::set<std::string>{"before"}));
      fs::remove_all(scratch.path("source"));
      if (!killed) break;
    }
  }
  BOOST_TEST(step > 10);
  // Killed after the manifest's rename, after the fsyncs, after the marker's removal, and not at
  // all.
  BOOST_TEST(committed == 4);
}

BOOST_AUTO_TEST_CASE(a_rank_dies_at_each_step_of_copying_and_there_is_a_whole_checkpoint_or_none) {
  die_at_each_step_of_saving(*this, Transfer::copy);
}

BOOST_AUTO_TEST_CASE(a_rank_dies_at_each_step_of_moving_and_there_is_a_whole_checkpoint_or_none) {
  die_at_each_step_of_saving(*this, Transfer::link);
}

BOOST_AUTO_TEST_CASE(a_process_dies_at_each_step_of_removing_and_the_checkpoint_is_whole_or_gone) {
  write("source/deep/model.pt", "weights");
  for (int step = 1;; ++step) {
    const std::string directory = save(*this, "c", 0, path("source"));
    const bool killed = killed_at("*", step, [&] { return remove_checkpoint(directory).has_value(); });
    must(sweep(run));
    BOOST_TEST(fs::is_empty(run));
    if (!killed) break;
  }
}

BOOST_AUTO_TEST_CASE(a_sweep_dies_at_each_step_and_the_next_one_ends_its_work) {
  write("source/model.pt", "weights");
  for (int step = 1;; ++step) {
    must(begin_checkpoint(run + "/c"));
    must(upload(path("source"), run + "/c", {"model.pt"}, 0, Transfer::copy));
    const bool killed = killed_at("*", step, [&] { return sweep(run).has_value(); });
    must(sweep(run));
    BOOST_TEST(fs::is_empty(run));
    if (!killed) break;
  }
}

BOOST_AUTO_TEST_CASE(a_driver_dies_while_it_replaces_the_journal_and_the_old_or_the_new_one_is_whole) {
  must(replace_file(run + "/run.json", "old"));
  BOOST_TEST(killed_at("replace.written", 1, [&] { return replace_file(run + "/run.json", "new").has_value(); }));
  BOOST_TEST(read(run + "/run.json") == "old");
  BOOST_TEST(killed_at("replace.renamed", 1, [&] { return replace_file(run + "/run.json", "new").has_value(); }));
  BOOST_TEST(read(run + "/run.json") == "new");
  BOOST_TEST(must(sweep(run)).size() == 1u);
  BOOST_TEST((entries(run) == std::set<std::string>{"run.json"}));
  BOOST_TEST(killed_at("replace.written", 1, [&] { return replace_file(run + "/run.json", "newer").has_value(); }));
  const Names swept = must(sweep(run));
  BOOST_TEST(swept.size() == 1u);
  BOOST_TEST(swept.at(0).starts_with(".headway.part.run.json."));
  BOOST_TEST(read(run + "/run.json") == "new");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
