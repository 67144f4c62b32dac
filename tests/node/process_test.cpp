#include "node/process.hpp"

#include "node/scratch.hpp"

#include <algorithm>
#include <functional>
#include <thread>

/// Programs started with exactly what they were given, and the little that a process asks about
/// itself.
namespace headway::node {

namespace {

/// What a shell script prints, started with these descriptors as its 3, 4, ….
std::string output_of(const std::string& script, const std::vector<int>& inherited = {},
                      const std::map<std::string, std::string>& env = {}) {
  Ends output = make_pipe();
  const Result<pid_t> pid = launch_process(
      {.command = {"sh", "-c", script}, .env = env, .output_fd = output.b.get(), .inherited = inherited});
  if (!pid) BOOST_FAIL(pid.error().message);
  output.b.close();
  std::string text = read_all(output.a.get());
  wait_for(*pid);
  return text;
}

/// The exit code of a forked child that runs `work`.
int in_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  return wait_for(child);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(process_suite)

BOOST_AUTO_TEST_CASE(standard_output_and_error_go_to_one_pipe_in_order) {
  BOOST_TEST(output_of("echo one; echo two >&2; echo three") == "one\ntwo\nthree\n");
}

BOOST_AUTO_TEST_CASE(the_exit_code_is_the_programs) {
  const Result<pid_t> pid = launch_process({.command = {"sh", "-c", "exit 7"}});
  BOOST_REQUIRE(pid.has_value());
  BOOST_TEST(wait_for(*pid) == 7);
}

BOOST_AUTO_TEST_CASE(variables_are_added_and_replaced_and_the_others_stay) {
  ::setenv("HEADWAY_TEST_STAYS", "old", 1);
  ::setenv("HEADWAY_TEST_CHANGES", "old", 1);
  const std::string script =
      "echo $HEADWAY_TEST_STAYS,$HEADWAY_TEST_CHANGES,$HEADWAY_TEST_NEW; env | grep -c TEST_CHANGES";
  BOOST_TEST(output_of(script, {}, {{"HEADWAY_TEST_CHANGES", "new"}, {"HEADWAY_TEST_NEW", "a b=c"}}) ==
             "old,new,a b=c\n1\n");
  ::unsetenv("HEADWAY_TEST_STAYS");
  ::unsetenv("HEADWAY_TEST_CHANGES");
}

BOOST_AUTO_TEST_CASE(descriptors_become_3_and_4_in_the_order_given_and_nothing_else_is_open) {
  Ends first = make_pipe();
  Ends second = make_pipe();
  const Descriptor other(::fcntl(first.a.get(), F_DUPFD_CLOEXEC, 77));
  const std::string found =
      output_of("echo first >&3; echo second >&4; cd /proc/$$/fd; for fd in 3 4 " + std::to_string(other.get()) +
                    "; do [ -e $fd ] && echo open || echo closed; done",
                {first.b.get(), second.b.get()});
  first.b.close();
  second.b.close();
  BOOST_TEST(read_all(first.a.get()) == "first\n");
  BOOST_TEST(read_all(second.a.get()) == "second\n");
  BOOST_TEST(found == "open\nopen\nclosed\n");
}

BOOST_AUTO_TEST_CASE(descriptors_may_have_any_numbers_as_in_a_driver_with_hundreds_of_workers) {
  for (const int start : {100, 198, 199, 200, 201, 202, 500}) {
    Ends first = make_pipe();
    Ends second = make_pipe();
    first.b = Descriptor(::dup3(first.b.get(), start, O_CLOEXEC));
    second.b = Descriptor(::dup3(second.b.get(), start + 1, O_CLOEXEC));
    output_of("echo high >&3; echo low >&4", {second.b.get(), first.b.get()});
    output_of("echo low >&3; echo high >&4", {first.b.get(), second.b.get()});
    first.b.close();
    second.b.close();
    BOOST_TEST(read_all(second.a.get()) == "high\nhigh\n");
    BOOST_TEST(read_all(first.a.get()) == "low\nlow\n");
  }
}

BOOST_AUTO_TEST_CASE(the_output_may_have_any_number_too) {
  for (const int number : {199, 200, 201, 202}) {
    Ends output = make_pipe();
    Ends extra = make_pipe();
    BOOST_REQUIRE(::dup3(output.b.get(), number, O_CLOEXEC) == number);
    Descriptor placed(number);
    output.b.close();
    const Result<pid_t> pid = launch_process(
        {.command = {"sh", "-c", "echo out; echo extra >&3"}, .output_fd = number, .inherited = {extra.b.get()}});
    BOOST_REQUIRE(pid.has_value());
    placed.close();
    extra.b.close();
    BOOST_TEST(read_all(output.a.get()) == "out\n");
    BOOST_TEST(read_all(extra.a.get()) == "extra\n");
    wait_for(*pid);
  }
}

BOOST_AUTO_TEST_CASE(it_has_a_session_of_its_own_an_empty_input_and_no_signals_blocked) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  ::signal(SIGPIPE, SIG_IGN);
  const std::string text =
      output_of("cat; cut -d' ' -f1,6 /proc/$$/stat; exec grep -E 'Sig(Blk|Ign)' /proc/self/status");
  ::signal(SIGPIPE, SIG_DFL);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  const std::string ids = text.substr(0, text.find('\n'));
  BOOST_TEST(ids.substr(0, ids.find(' ')) == ids.substr(ids.find(' ') + 1));
  BOOST_TEST(text.find("SigBlk:\t0000000000000000\n") != std::string::npos);
  // Above 31 are the C library's own.
  const unsigned long long ignored = std::stoull(text.substr(text.rfind('\t') + 1), nullptr, 16);
  BOOST_TEST((ignored & 0x7fffffff) == 0U);
}

BOOST_AUTO_TEST_CASE(a_program_that_is_not_there_is_named) {
  const Result<pid_t> pid = launch_process({.command = {"headway-no-such-program"}});
  BOOST_REQUIRE(!pid.has_value());
  BOOST_TEST((pid.error().kind == ErrorKind::unavailable));
  BOOST_TEST(pid.error().message == "cannot start headway-no-such-program: No such file or directory");
}

BOOST_AUTO_TEST_CASE(a_process_dies_with_the_one_that_it_said) {
  Ends ready = make_pipe();
  const pid_t parent = ::fork();
  if (parent == 0) {
    const pid_t self = ::getpid();
    if (::fork() == 0) {
      die_with(self);
      (void)!::write(ready.b.get(), "x\n", 2);
    }
    while (true) ::pause();
  }
  ready.b.close();
  BOOST_TEST(read_line(ready.a.get()) == "x");
  ::kill(parent, SIGKILL);
  wait_for(parent);
  BOOST_TEST(at_end(ready.a.get()));
}

BOOST_AUTO_TEST_CASE(a_process_whose_parent_is_another_already_ends_at_once) {
  BOOST_TEST(in_child([] {
               die_with(1 << 22);
               return 0;
             }) == 1);
}

BOOST_AUTO_TEST_CASE(threads_are_counted) {
  std::thread([] {}).join();  // ThreadSanitizer starts a thread for itself with the first one.
  const int before = count_threads();
  Ends pipe = make_pipe();
  std::thread other([&] { at_end(pipe.a.get()); });
  BOOST_TEST(count_threads() == before + 1);
  pipe.b.close();
  other.join();
}

BOOST_AUTO_TEST_CASE(children_are_listed_while_they_live_and_until_they_are_waited_for) {
  Ends life = make_pipe();
  const pid_t child = ::fork();
  if (child == 0) {
    life.b.close();
    ::_exit(at_end(life.a.get()) ? 0 : 1);
  }
  const auto listed = [child] {
    const std::vector<pid_t> children = children_of_this_process();
    return std::find(children.begin(), children.end(), child) != children.end();
  };
  BOOST_TEST(listed());
  life.b.close();
  BOOST_TEST(Watch(child).ends());
  BOOST_TEST(listed());
  wait_for(child);
  BOOST_TEST(!listed());
}

BOOST_AUTO_TEST_CASE(a_child_that_outlives_its_limit_is_reaped_later) {
  Ends life = make_pipe();
  const pid_t child = ::fork();
  if (child == 0) {
    life.b.close();
    ::_exit(at_end(life.a.get()) ? 0 : 1);
  }
  reap_within(child, std::chrono::milliseconds(0));
  reap_left();
  BOOST_TEST(::kill(child, 0) == 0);
  // Another process has no such child.
  BOOST_TEST(in_child([] {
               reap_left();
               return 0;
             }) == 0);
  Watch end(child);
  life.b.close();
  BOOST_TEST(end.ends());
  siginfo_t state{};
  BOOST_TEST(::waitid(P_PID, static_cast<id_t>(child), &state, WEXITED | WNOWAIT) == 0);
  reap_left();
  BOOST_TEST(::waitpid(child, nullptr, WNOHANG) == -1);
}

BOOST_AUTO_TEST_CASE(all_other_descriptors_are_closed) {
  Ends kept = make_pipe();
  Ends gone = make_pipe();
  BOOST_TEST(in_child([&] {
               close_descriptors_except({kept.b.get(), STDERR_FILENO, kept.a.get()});
               if (!wire::is_open(kept.a.get()) || !wire::is_open(kept.b.get()) || !wire::is_open(STDERR_FILENO))
                 return 1;
               if (wire::is_open(gone.a.get()) || wire::is_open(gone.b.get()) || wire::is_open(STDIN_FILENO)) return 2;
               return 0;
             }) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::node
