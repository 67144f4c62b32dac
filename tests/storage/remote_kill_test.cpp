#include "core/fault_point.hpp"
#include "storage/faulty_files.hpp"
#include "storage/remote/remote_checkpoint.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <set>

/// As kill_test.cpp, on storage without rename: a process dies by SIGKILL at each step in turn.
namespace headway::storage {

namespace {

Remote remote_at(const Scratch& scratch, const std::string& path) {
  return {Store(std::make_shared<DirectoryFiles>(scratch.root), {}, std::make_shared<CountedPatience>()), path};
}

/// Whether a child that runs `work` with the `step`-th fault point armed was killed there (else it
/// came to its end).
bool killed_at(int step, const std::function<bool()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    arm_fault_point("*", step);
    ::_exit(work() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return true;
  BOOST_TEST(WEXITSTATUS(status) == 0);
  return false;
}

bool save(const Scratch& scratch, const Remote& checkpoint) {
  if (!remote::begin_checkpoint(checkpoint)) return false;
  const auto sent = remote::upload(scratch.path("source"), checkpoint, {"a.pt", "deep/b.pt"}, 0);
  return sent && remote::commit(checkpoint, manifest_of("new", 1, *sent));
}

struct Sources : Scratch {
  Sources() {
    write("source/a.pt", "a");
    write("source/deep/b.pt", "b");
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(remote_kill_suite, Sources)

BOOST_AUTO_TEST_CASE(a_process_dies_at_each_step_of_saving_and_there_is_a_whole_checkpoint_or_none) {
  const Remote run_place = remote_at(*this, "run");
  const Remote place = remote_at(*this, "run/new");
  BOOST_TEST(save(*this, remote_at(*this, "run/before")));
  int committed = 0;
  int step = 1;
  for (;; ++step) {
    BOOST_TEST_CONTEXT("killed at fault point number " << step) {
      const bool killed = killed_at(step, [&] { return save(*this, place); });
      const bool listed = must(remote::list_checkpoints(run_place, nullptr)).size() == 2;
      must(remote::sweep(run_place));
      BOOST_TEST(is_whole(remote_at(*this, "run/before")));
      BOOST_TEST((must(remote::list_checkpoints(run_place, nullptr)).size() == 2) == listed);
      if (listed) {
        ++committed;
        BOOST_TEST(is_whole(place));
        must(remote::remove_checkpoint(place));
      }
      BOOST_TEST((entries(run) == std::set<std::string>{"before"}));
      if (!killed) break;
    }
  }
  BOOST_TEST(step > 6);
  // Killed after the manifest was written, after the marker's removal, and not at all.
  BOOST_TEST(committed == 3);
}

BOOST_AUTO_TEST_CASE(a_process_dies_at_each_step_of_removing_and_the_checkpoint_is_whole_or_gone) {
  const Remote run_place = remote_at(*this, "run");
  const Remote place = remote_at(*this, "run/new");
  for (int step = 1;; ++step) {
    BOOST_TEST(save(*this, place));
    const bool killed = killed_at(step, [&] { return remote::remove_checkpoint(place).has_value(); });
    const bool listed = !must(remote::list_checkpoints(run_place, nullptr)).empty();
    if (listed) BOOST_TEST(is_whole(place));
    must(remote::sweep(run_place));
    if (listed) must(remote::remove_checkpoint(place));
    BOOST_TEST(fs::is_empty(run));
    if (!killed) break;
  }
}

BOOST_AUTO_TEST_CASE(a_sweep_dies_at_each_step_and_the_next_one_ends_its_work) {
  const Remote run_place = remote_at(*this, "run");
  for (int step = 1;; ++step) {
    for (const char* name : {"run/one", "run/two"}) {
      must(remote::begin_checkpoint(remote_at(*this, name)));
      must(remote::upload(path("source"), remote_at(*this, name), {"a.pt"}, 0));
    }
    const bool killed = killed_at(step, [&] { return remote::sweep(run_place).has_value(); });
    must(remote::sweep(run_place));
    BOOST_TEST(fs::is_empty(run));
    if (!killed) break;
  }
}

BOOST_AUTO_TEST_CASE(a_manifest_that_was_being_written_is_not_listed_and_is_swept) {
  must(remote::begin_checkpoint(remote_at(*this, "run/new")));
  write("run/new/.headway.json", "{\"version\": 1, \"chec");
  BOOST_TEST(must(remote::list_checkpoints(remote_at(*this, "run"), nullptr)).empty());
  BOOST_TEST((must(remote::sweep(remote_at(*this, "run"))) == Names{"new"}));
  // Without our marker it is damage, and nobody's to take away.
  write("run/other/.headway.json", "{\"version\": 1, \"chec");
  std::vector<Error> unreadable;
  BOOST_TEST(must(remote::list_checkpoints(remote_at(*this, "run"), &unreadable)).empty());
  BOOST_TEST(unreadable.size() == 1u);
  BOOST_TEST(must(remote::sweep(remote_at(*this, "run"))).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
