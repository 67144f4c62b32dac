#include "node/one_agent.hpp"

/// Factories and guards that end, or stop, at any moment: each worker that was ordered is reported.
namespace headway::node {

BOOST_AUTO_TEST_SUITE(factory_ends_suite)

BOOST_FIXTURE_TEST_CASE(a_worker_that_is_started_when_another_died_with_its_factory_gets_a_new_factory, OneAgent) {
  must_start(1, "pids");
  const pid_t factory = pids(1).first;
  tell(1, "deaf");
  run_until([&] { return !of(1, "printed").empty(); });
  loop.poll();  // The agent has seen that the session is closed, so it waits only for the end.
  on_end = [this](std::int64_t id) {
    if (id == 1) must_start(2, "say again");
  };
  ::kill(factory, SIGKILL);
  BOOST_TEST(ended(1) == lost_with_factory);
  run_until([&] { return !of(2, "said").empty() || !of(2, "ended").empty(); });
  BOOST_TEST(of(2, "said") == std::vector<std::string>{"again"});
}

BOOST_FIXTURE_TEST_CASE(a_factory_that_is_gone_before_the_agent_listens_to_it_ends_the_worker_that_was_ordered,
                        OneAgent) {
  wire::Ends control = wire::make_socket();
  control.b.close();
  wire::Ends life = make_pipe();
  wire::Ends until = make_pipe();
  const pid_t guard = fork();
  if (guard == 0) {
    until.b.close();
    char none = 0;
    _exit(::read(until.a.get(), &none, 1) == 0 ? 4 : 5);
  }
  config.forked = std::make_shared<ForkedFactory>(ForkedFactory{std::move(control.a), std::move(life.b), guard});
  agent = std::make_unique<Agent>(loop, config, *this);
  boost::asio::post(loop, [&] {
    must_start(1, "say never");  // While the guard is there: else a new factory would be started.
    until.b.close();
  });
  BOOST_TEST(ended(1) == lost_with_factory);
}

BOOST_FIXTURE_TEST_CASE(a_worker_ordered_of_a_factory_that_is_dying_is_told_as_ended, OneAgent) {
  must_start(1, "pids");
  const pid_t factory = pids(1).first;
  const Watch gone(factory);
  ::kill(factory, SIGKILL);
  BOOST_TEST(gone.ends());
  must_start(2, "say never");
  BOOST_TEST(ended(2) == lost_with_factory);
  must_start(3, "say again");
  BOOST_TEST(said(3) == "again");
}

BOOST_AUTO_TEST_CASE(a_worker_whose_factory_is_still_importing_is_not_waited_for_when_it_is_killed) {
  OneAgent node({"sh", "-c", "kill -STOP $$"});
  BOOST_TEST(node.start(1, "exit 0").has_value());
  node.agent->signal_worker(1, SIGTERM);
  BOOST_TEST(node.of(1, "ended").empty());
  node.agent->signal_worker(1, SIGKILL);
  BOOST_TEST(node.of(1, "ended").empty());  // Not from within the call.
  BOOST_TEST(node.ended(1) == "was killed by SIGKILL (signal 9): it had not been started yet");
}

BOOST_AUTO_TEST_CASE(a_factory_that_dies_while_it_starts_ends_the_workers_that_were_ordered) {
  OneAgent node({"sh", "-c", "exit 1"});
  BOOST_TEST(node.start(1, "exit 0").has_value());
  BOOST_TEST(node.start(2, "exit 0").has_value());
  const std::string how =
      "exited with code 1: it was to be started by a worker factory, which has ended so before it was ready";
  BOOST_TEST(node.ended(1) == how);
  BOOST_TEST(node.ended(2) == how);
}

BOOST_AUTO_TEST_CASE(a_factory_that_a_signal_ends_while_it_starts_is_told_with_it) {
  OneAgent node({"sh", "-c", "kill -SEGV $$"});
  BOOST_TEST(node.start(1, "exit 0").has_value());
  const std::string how = "exited with code 139 (SIGSEGV): it was to be started by a worker factory, which has ";
  BOOST_TEST(node.ended(1).substr(0, how.size()) == how);
}

BOOST_FIXTURE_TEST_CASE(a_guard_that_is_stopped_is_killed_at_the_end_with_all_below_it_and_named, OneAgent) {
  config.limits.stopped = std::chrono::milliseconds(20);
  agent = std::make_unique<Agent>(loop, config, *this);
  must_start(1, "family");
  const Watch child(std::stoi(said(1, 0)));
  const Watch hidden(std::stoi(said(1, 1)));
  const pid_t guard = children_of_this_process().at(0);
  ::kill(guard, SIGSTOP);
  close();
  BOOST_TEST(children_of_this_process().empty());
  BOOST_TEST(child.ends());
  BOOST_TEST(hidden.ends());
  const std::string pid = std::to_string(guard);
  BOOST_TEST(
      of(0, "notice") ==
      std::vector<std::string>{"the guard of a worker factory (pid " + pid +
                               ") has not ended 0 s after the order to end: it is stopped (SIGSTOP); `kill -CONT " +
                               pid + "` resumes it. It is killed, with all processes below it"});
}

BOOST_FIXTURE_TEST_CASE(a_factory_that_is_stopped_is_killed_and_named_and_what_had_ended_is_told_as_it_was, OneAgent) {
  config.answer_limit = std::chrono::milliseconds(20);
  agent = std::make_unique<Agent>(loop, config, *this);
  must_start(1, "pids");
  must_start(2, "pids");
  const auto [factory, first] = pids(1);
  const Watch other(pids(2).second);
  ::kill(factory, SIGSTOP);
  const Watch gone(first);
  tell(1, "exit 3");
  while (!gone.ends(1)) loop.poll();
  agent->signal_worker(1, SIGKILL);
  BOOST_TEST(ended(1) == "exited with code 3");
  BOOST_TEST(ended(2) == lost_with_factory);
  BOOST_TEST(other.ends());
  BOOST_REQUIRE(of(0, "notice").size() == 1U);
  BOOST_TEST(of(0, "notice")[0].starts_with("the worker factory (pid " + std::to_string(factory) +
                                            ") has not answered for 0 s: it is stopped (SIGSTOP);"));
  must_start(3, "say again");
  BOOST_TEST(said(3) == "again");
}

BOOST_FIXTURE_TEST_CASE(a_worker_is_ordered_of_a_factory_that_is_stopped_and_told_as_ended, OneAgent) {
  config.answer_limit = std::chrono::milliseconds(20);
  agent = std::make_unique<Agent>(loop, config, *this);
  must_start(1, "pids");
  ::kill(pids(1).first, SIGSTOP);
  must_start(2, "say never");
  BOOST_TEST(ended(2) == lost_with_factory);
  BOOST_TEST(ended(1) == lost_with_factory);
}

BOOST_AUTO_TEST_CASE(a_factory_that_cannot_be_started_is_an_error_at_once_and_leaves_nothing) {
  OneAgent node;
  node.config.guard_path = "/nowhere/headway-guard";
  node.agent = std::make_unique<Agent>(node.loop, node.config, node);
  const Result<void> started = node.start(1, "exit 0");
  BOOST_REQUIRE(!started.has_value());
  BOOST_TEST((started.error().kind == ErrorKind::unavailable));
  BOOST_TEST(children_of_this_process().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::node
