#include "node/guard.hpp"

#include "node/lease_clock.hpp"
#include "node/process.hpp"
#include "node/scratch.hpp"
#include "node/staging_place.hpp"

#include <sys/file.h>
#include <sys/syscall.h>

#include <thread>

/// headway-guard: whichever way the command or its owner ends, nothing of the command is left
/// behind.
namespace headway::node {

namespace {

/// A guard over a shell script. The script's descriptor 4 is inherited by all that it starts: its
/// end is the end of them all. What it says there is read with `said`.
struct GuardedScript {
  explicit GuardedScript(const std::string& script) : GuardedScript(std::vector<std::string>{"sh", "-c", script}) {}
  explicit GuardedScript(const std::vector<std::string>& command, const std::map<std::string, std::string>& env = {})
      : life(make_pipe()), all(make_pipe()) {
    ProcessLaunch launch;
    launch.env = env;
    launch.command = {HEADWAY_TEST_GUARD, "3"};
    launch.command.insert(launch.command.end(), command.begin(), command.end());
    launch.inherited = {life.a.get(), all.b.get()};
    const Result<pid_t> started = launch_process(launch);
    if (!started) BOOST_FAIL(started.error().message);
    pid = *started;
    life.a.close();
    all.b.close();
  }
  ~GuardedScript() {
    life.b.close();
    if (pid > 0) wait_for(pid);
  }

  std::string said() const { return read_line(all.a.get()); }
  pid_t said_pid() const { return std::stoi(said()); }
  int ends() { return wait_for(std::exchange(pid, 0)); }
  /// As an agent tells of its lease.
  void hold_for(std::chrono::milliseconds length) const { write((lease_now() + length).count()); }
  void write(std::int64_t word) const { BOOST_REQUIRE(::write(life.b.get(), &word, sizeof(word)) == sizeof(word)); }
  bool nothing_left() const { return at_end(all.a.get()); }

  Ends life;
  Ends all;
  pid_t pid = 0;
};

const std::string for_ever = "tail -f /dev/null";

}  // namespace

BOOST_AUTO_TEST_SUITE(guard_suite)

BOOST_AUTO_TEST_CASE(the_command_ends_and_its_code_is_the_guards) {
  BOOST_TEST(GuardedScript("exit 3").ends() == 3);
  BOOST_TEST(GuardedScript("exit 0").ends() == 0);
}

BOOST_AUTO_TEST_CASE(the_command_ends_and_leaves_children_behind_that_are_killed) {
  GuardedScript guard(for_ever + " & setsid " + for_ever + " & exit 3");
  BOOST_TEST(guard.ends() == 3);
  BOOST_TEST(guard.nothing_left());
}

BOOST_AUTO_TEST_CASE(the_command_is_killed_and_the_guard_says_so_and_its_orphans_go) {
  GuardedScript guard("setsid " + for_ever + " & echo $$ >&4; wait");
  ::kill(guard.said_pid(), SIGKILL);
  BOOST_TEST(guard.ends() == 128 + SIGKILL);
  BOOST_TEST(guard.nothing_left());
}

BOOST_AUTO_TEST_CASE(the_owner_goes_and_all_there_is_goes_with_it) {
  GuardedScript guard(for_ever + " & setsid " + for_ever + " & echo ready >&4; wait");
  BOOST_TEST(guard.said() == "ready");
  guard.life.b.close();
  guard.ends();
  BOOST_TEST(guard.nothing_left());
}

BOOST_AUTO_TEST_CASE(a_grandchild_that_hid_in_a_session_of_its_own_and_lost_its_parents_is_found) {
  GuardedScript guard("(setsid sh -c '(echo $$ >&4; trap \"\" TERM HUP; " + for_ever + ") & exit' &) ; " + for_ever);
  guard.said();
  guard.life.b.close();
  guard.ends();
  BOOST_TEST(guard.nothing_left());
}

BOOST_AUTO_TEST_CASE(a_lease_that_runs_out_ends_all_though_its_owner_lives) {
  GuardedScript guard(for_ever + " & setsid " + for_ever + " & echo ready >&4; wait");
  BOOST_TEST(guard.said() == "ready");
  guard.hold_for(std::chrono::milliseconds(50));
  guard.ends();
  BOOST_TEST(guard.nothing_left());
}

BOOST_AUTO_TEST_CASE(a_lease_that_is_put_off_is_kept) {
  GuardedScript guard("echo ready >&4; " + for_ever);
  BOOST_TEST(guard.said() == "ready");
  guard.hold_for(std::chrono::milliseconds(200));
  guard.hold_for(std::chrono::hours(48));
  BOOST_TEST(!Watch(guard.pid).ends(400));
}

BOOST_AUTO_TEST_CASE(a_command_that_ignores_every_signal_that_it_can_is_killed) {
  GuardedScript guard("trap '' TERM HUP INT; echo ready >&4; while :; do " + for_ever + "; done");
  guard.said();
  ::kill(guard.pid, SIGTERM);
  guard.ends();
  BOOST_TEST(guard.nothing_left());
}

BOOST_AUTO_TEST_CASE(the_guard_itself_is_killed_and_the_command_gets_sigterm) {
  GuardedScript guard("echo ready >&4; exec " + for_ever);
  BOOST_TEST(guard.said() == "ready");
  ::kill(guard.pid, SIGKILL);
  BOOST_TEST(guard.nothing_left());
  BOOST_TEST(guard.ends() == 128 + SIGKILL);
}

BOOST_AUTO_TEST_CASE(an_owner_that_says_farewell_is_not_waited_for_and_its_directories_stay) {
  const Scratch scratch;
  ::setenv("HEADWAY_STAGING_DIR", scratch.root.c_str(), 1);
  std::filesystem::create_directories(scratch.path("working_dirs/run/trial"));
  std::ofstream(scratch.path("working_dirs/run/trial.lock")).flush();
  GuardedScript guard("echo ready >&4; " + for_ever);
  ::unsetenv("HEADWAY_STAGING_DIR");
  BOOST_TEST(guard.said() == "ready");
  guard.write(Guard::farewell);
  guard.ends();
  BOOST_TEST(guard.nothing_left());
  BOOST_TEST(std::filesystem::exists(scratch.path("working_dirs/run/trial")));
}

BOOST_AUTO_TEST_CASE(an_owner_that_was_gone_before_the_guard_could_look_is_not_waited_for) {
  const pid_t owner = fork();
  if (owner == 0) _exit(0);
  wait_for(owner);
  // This process stands for the one that inherits the guard then.
  GuardedScript guard({"tail", "-f", "/dev/null"}, {{agent_variable, std::to_string(owner)}});
  guard.life.b.close();
  BOOST_TEST(Watch(guard.pid).ends(4000));
}

BOOST_AUTO_TEST_CASE(the_directories_of_drivers_that_are_gone_are_removed_when_they_are_empty_and_not_in_use) {
  const Scratch scratch;
  for (const char* trial : {"left", "written", "in_use"}) {
    std::filesystem::create_directories(scratch.path(std::string("working_dirs/run/") + trial));
    std::ofstream(scratch.path(std::string("working_dirs/run/") + trial + ".lock")).flush();
  }
  std::ofstream(scratch.path("working_dirs/run/written/sample.txt")).flush();
  const Descriptor lock(::open(scratch.path("working_dirs/run/in_use.lock").c_str(), O_RDWR));
  BOOST_REQUIRE(::flock(lock.get(), LOCK_EX) == 0);
  remove_left_working_directories(scratch.root.c_str());
  BOOST_TEST(!std::filesystem::exists(scratch.path("working_dirs/run/left")));
  BOOST_TEST(!std::filesystem::exists(scratch.path("working_dirs/run/left.lock")));
  BOOST_TEST(std::filesystem::exists(scratch.path("working_dirs/run/written/sample.txt")));
  BOOST_TEST(std::filesystem::exists(scratch.path("working_dirs/run/in_use")));
  BOOST_TEST(std::filesystem::exists(scratch.path("working_dirs/run/in_use.lock")));
}

BOOST_AUTO_TEST_CASE(a_thread_that_takes_the_signals_of_the_commands_end_does_not_keep_it_from_the_guard) {
  const auto guard_beside_a_thread = [](int life) {
    std::thread([] {
      for (;;) pause();
    }).detach();
    Guard guard(life, getppid());
    const pid_t command = guard.fork_command();
    if (command == 0) _exit(3);
    _exit(guard.watch(command));
  };
  for (int i = 0; i < 50; ++i) {
    const Ends life = make_pipe();
    const pid_t pid = fork();
    if (pid == 0) guard_beside_a_thread(life.a.get());
    const Descriptor end(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    pollfd watch = {end.get(), POLLIN, 0};
    const bool ended = poll(&watch, 1, 10'000) == 1;
    if (!ended) ::kill(pid, SIGKILL);
    const int code = wait_for(pid);
    BOOST_REQUIRE(ended);
    BOOST_REQUIRE(code == 3);
  }
}

BOOST_AUTO_TEST_CASE(a_command_that_is_not_there_gives_127_and_a_call_without_one_2) {
  BOOST_TEST(GuardedScript(std::vector<std::string>{"headway-no-such-program"}).ends() == 127);
  const Result<pid_t> pid = launch_process({.command = {HEADWAY_TEST_GUARD, "3"}});
  BOOST_REQUIRE(pid.has_value());
  BOOST_TEST(wait_for(*pid) == 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::node
