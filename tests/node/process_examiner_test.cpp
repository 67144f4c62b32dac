#include "node/process_examiner.hpp"

#include "node/process_state.hpp"

#include "node/process.hpp"
#include "node/scratch.hpp"

#include <sys/stat.h>

/// Real processes, looked at from outside: what they do, or why that cannot be seen.
namespace headway::node {

namespace {

constexpr auto endless = R"(
import sys
def endless_loop():
    print("ready", flush=True)
    while True:
        pass
endless_loop()
)";

/// A Python process that has said that it is ready.
struct Snake {
  explicit Snake(const char* code) {
    Ends output = make_pipe();
    const Result<pid_t> started =
        launch_process({.command = {HEADWAY_TEST_PYTHON, "-c", code}, .output_fd = output.b.get()});
    BOOST_REQUIRE(started.has_value());
    pid = *started;
    BOOST_REQUIRE(read_line(output.a.get()) == "ready");
  }
  ~Snake() {
    ::kill(pid, SIGKILL);
    wait_for(pid);
  }
  Snake(const Snake&) = delete;
  Snake& operator=(const Snake&) = delete;

  pid_t pid = 0;
};

struct Examined {
  ~Examined() {  // Its guards are reaped.
    loop.restart();
    loop.run();
  }
  std::string look_at(pid_t pid, const std::string& py_spy = HEADWAY_TEST_PY_SPY) {
    ProcessExaminer examiner(loop, {HEADWAY_TEST_GUARD, py_spy});
    std::optional<std::string> told;
    examiner.examine(pid, [&](const ProcessSeen& seen) { told = seen.text; });
    BOOST_TEST(!told.has_value());
    loop.restart();
    while (!told) loop.run_one();
    return *told;
  }
  /// A program in py-spy's place.
  std::string tool(const std::string& body) {
    const std::string path = scratch.path("py-spy");
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    ::chmod(path.c_str(), 0755);
    return path;
  }

  boost::asio::io_context loop;
  Scratch scratch;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(process_examiner_suite)

BOOST_FIXTURE_TEST_CASE(a_process_in_an_endless_loop_shows_its_function, Examined) {
  const Snake snake(endless);
  const std::string text = look_at(snake.pid);
  BOOST_TEST(text.starts_with("running\n"), text);
  BOOST_TEST(has(text, "  endless_loop (<string>:6)\n") != has(text, "  endless_loop (<string>:5)\n"), text);
}

BOOST_FIXTURE_TEST_CASE(a_process_that_waits_in_a_system_call_shows_the_native_frame, Examined) {
  const Snake snake("import signal; print('ready', flush=True); signal.pause()");
  std::string text = look_at(snake.pid);
  // It may have been on its way into the call.
  while (!has(text, "pause")) text = look_at(snake.pid);
  BOOST_TEST(has(text, "MainThread"), text);
}

BOOST_FIXTURE_TEST_CASE(a_stopped_process_is_told_as_such_with_its_stack_and_stays_stopped, Examined) {
  const Snake snake(endless);
  ::kill(snake.pid, SIGSTOP);
  int status = 0;
  ::waitpid(snake.pid, &status, WUNTRACED);
  const std::string text = look_at(snake.pid);
  BOOST_TEST(text.starts_with("stopped (SIGSTOP); `kill -CONT " + std::to_string(snake.pid) + "` resumes it\n"), text);
  BOOST_TEST(has(text, "  endless_loop (<string>:"), text);
  BOOST_TEST(process_state(snake.pid) == 'T');
}

BOOST_FIXTURE_TEST_CASE(a_look_takes_the_cpu_time_of_its_process, Examined) {
  const Snake snake(endless);
  ProcessExaminer examiner(loop, {HEADWAY_TEST_GUARD, ""});
  std::optional<ProcessSeen> told;
  double before = 0;
  while (before < 0.5) {  // It spins.
    examiner.examine(snake.pid, [&](const ProcessSeen& seen) { told = seen; });
    loop.restart();
    loop.run();
    BOOST_REQUIRE(told.has_value());
    BOOST_REQUIRE(told->pid == snake.pid);
    BOOST_REQUIRE(told->cpu_s >= before);
    before = told->cpu_s;
  }
}

BOOST_FIXTURE_TEST_CASE(a_process_that_is_gone_is_told_as_such, Examined) {
  pid_t pid = 0;
  {
    const Snake snake(endless);
    pid = snake.pid;
  }
  BOOST_TEST(look_at(pid) == "its process has ended\n");
}

BOOST_FIXTURE_TEST_CASE(without_py_spy_the_state_is_told_and_what_is_missing, Examined) {
  const Snake snake(endless);
  BOOST_TEST(look_at(snake.pid, "") ==
             "running\nits stack is not shown: py-spy is not installed (pip install py-spy)\n");
  BOOST_TEST(has(look_at(snake.pid, scratch.path("nowhere")), "its stack is not shown: py-spy: "));
}

BOOST_FIXTURE_TEST_CASE(a_system_that_refuses_is_told_with_what_it_lacks, Examined) {
  const Snake snake(endless);
  const std::string text = look_at(snake.pid, tool("echo 'Permission Denied: Try running again' >&2; exit 1"));
  BOOST_TEST(has(text, "its stack is not shown: py-spy: Permission Denied: Try running again"), text);
  BOOST_TEST(has(text, "needs ptrace"), text);
}

BOOST_FIXTURE_TEST_CASE(native_frames_are_refused_and_the_others_are_shown_with_the_reason, Examined) {
  const Snake snake(endless);
  const std::string real = HEADWAY_TEST_PY_SPY;
  const std::string text =
      look_at(snake.pid,
              tool("case \"$*\" in *--native*) echo 'Error: no symbols' >&2; exit 1;; esac; exec " + real + " \"$@\""));
  BOOST_TEST(has(text, "native frames are not shown: py-spy: Error: no symbols\n"), text);
  BOOST_TEST(has(text, "  endless_loop (<string>:"), text);
}

BOOST_FIXTURE_TEST_CASE(two_who_ask_for_one_process_are_told_by_one_look, Examined) {
  const Snake snake(endless);
  ProcessExaminer examiner(loop, {HEADWAY_TEST_GUARD, tool("echo x >> " + scratch.path("calls") + "; exit 1")});
  int told = 0;
  for (int i = 0; i < 2; ++i) examiner.examine(snake.pid, [&](const ProcessSeen&) { ++told; });
  while (told < 2) loop.run_one();
  BOOST_TEST(read_file(scratch.path("calls")) == "x\nx\n");  // With native frames, then without.
}

BOOST_FIXTURE_TEST_CASE(the_examiner_goes_while_it_looks_and_nothing_is_left, Examined) {
  const Snake snake(endless);
  const std::string fifo = scratch.path("fifo");
  ::mkfifo(fifo.c_str(), 0600);
  {
    ProcessExaminer examiner(loop, {HEADWAY_TEST_GUARD, tool("echo here > " + fifo + "; exec tail -f /dev/null")});
    examiner.examine(snake.pid, [](const ProcessSeen&) { BOOST_ERROR("somebody is called after the end"); });
    std::ifstream came(fifo);
    std::string word;
    came >> word;
    BOOST_TEST(word == "here");
  }
  loop.restart();
  loop.run();
  BOOST_TEST(children_of_this_process() == std::vector<pid_t>{snake.pid});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::node
