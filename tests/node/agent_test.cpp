#include "node/agent.hpp"

#include "node/process.hpp"
#include "node/scratch.hpp"
#include "node/words.hpp"

#include <functional>

/// The agent with a real factory and real workers: what they said and printed, and how they ended, however that was.
namespace headway::node {

namespace {

/// An agent on a loop of its own, with all that it tells kept in order.
struct OneAgent : AgentSink {
  explicit OneAgent(std::vector<std::string> factory = {HEADWAY_TEST_FACTORY}) {
    config = {HEADWAY_TEST_GUARD, std::move(factory), {}, ""};
    agent = std::make_unique<Agent>(loop, config, *this);
  }
  ~OneAgent() override {
    agent.reset();
    loop.restart();
    loop.run();
  }

  Result<void> worker_message(std::int64_t id, wire::Frame frame) override {
    const auto busy_until = std::chrono::steady_clock::now() + busy_with_each_message;
    while (std::chrono::steady_clock::now() < busy_until) {
    }
    note(id, "said", words_in(frame));
    return words_in(frame) == "nonsense" ? Result<void>(Error{ErrorKind::corrupted, "that makes no sense"})
                                         : Result<void>();
  }
  void worker_exited(std::int64_t id, const ExitStatus& status, const std::string& log_tail) override {
    tail = log_tail;
    note(id, "ended", to_text(status));
    if (on_end) on_end(id);
  }
  bool worker_line(std::int64_t id, std::string_view line) override {
    note(id, "printed", std::string(line));
    return --until_pause != 0;
  }
  void notice(const std::string& text) override { note(0, "notice", text); }

  /// Starts a worker and gives it its first order.
  Result<void> start(std::int64_t id, const std::string& order, std::vector<std::string> preload = {},
                     std::map<std::string, std::string> env = {}) {
    return agent->start_worker({id, std::move(preload), std::move(env), scratch.path(std::to_string(id) + ".log")},
                               order_of(order));
  }
  void must_start(std::int64_t id, const std::string& order, std::vector<std::string> preload = {}) {
    const Result<void> started = start(id, order, std::move(preload));
    if (!started) BOOST_FAIL(started.error().message);
  }
  void tell(std::int64_t id, const std::string& order) { agent->send(id, order_of(order)); }

  void run_until(const std::function<bool()>& done) {
    while (!done()) loop.run_one();
  }
  std::vector<std::string> of(std::int64_t id, const std::string& kind) const {
    std::vector<std::string> texts;
    for (const Note& note : notes) {
      if (note.id == id && note.kind == kind) texts.push_back(note.text);
    }
    return texts;
  }
  std::string said(std::int64_t id, std::size_t n = 0) {
    run_until([&] { return of(id, "said").size() > n; });
    return of(id, "said")[n];
  }
  std::string ended(std::int64_t id) {
    run_until([&] { return !of(id, "ended").empty(); });
    BOOST_TEST(of(id, "ended").size() == 1U);
    return of(id, "ended")[0];
  }
  /// A worker's factory and the worker itself.
  std::pair<pid_t, pid_t> pids(std::int64_t id) {
    const std::string text = said(id);
    return {std::stoi(text), std::stoi(text.substr(text.find(' ')))};
  }

  struct Note {
    std::int64_t id;
    std::string kind;
    std::string text;
  };
  void note(std::int64_t id, std::string kind, std::string text) {
    if (kind == "ended") ended_at = notes.size();
    notes.push_back({id, std::move(kind), std::move(text)});
  }

  boost::asio::io_context loop;
  Scratch scratch;
  FactoryConfig config;
  std::unique_ptr<Agent> agent;
  std::vector<Note> notes;
  std::size_t ended_at = 0;
  std::string tail;
  std::function<void(std::int64_t id)> on_end;  ///< What else happens when a worker has ended.
  long until_pause = -1;
  std::chrono::milliseconds busy_with_each_message{0};
};

const std::string lost = "was killed by SIGKILL (signal 9): its worker factory died, and it with it";

}  // namespace

BOOST_AUTO_TEST_SUITE(agent_suite)

BOOST_FIXTURE_TEST_CASE(workers_that_exit_are_told_with_their_codes, OneAgent) {
  must_start(1, "exit 0");
  must_start(2, "exit 3");
  BOOST_TEST(ended(1) == "exited with code 0");
  BOOST_TEST(ended(2) == "exited with code 3");
}

BOOST_FIXTURE_TEST_CASE(workers_that_a_signal_ends_are_told_with_it, OneAgent) {
  must_start(1, "raise " + std::to_string(SIGABRT));
  must_start(2, "raise " + std::to_string(SIGKILL));
  BOOST_TEST(ended(1) == "was killed by SIGABRT (signal 6)");
  BOOST_TEST(ended(2) == "was killed by SIGKILL (signal 9)");
}

BOOST_FIXTURE_TEST_CASE(the_last_words_of_a_worker_are_heard_by_an_agent_that_is_slow, OneAgent) {
  must_start(1, "say first");
  BOOST_TEST(said(1) == "first");
  busy_with_each_message = std::chrono::milliseconds(10);
  for (int i = 1; i < 100; ++i) tell(1, "say " + std::to_string(i));
  tell(1, "raise 9");
  BOOST_TEST(ended(1) == "was killed by SIGKILL (signal 9)");
  BOOST_REQUIRE(of(1, "said").size() == 100U);
  BOOST_TEST(of(1, "said").back() == "99");
}

BOOST_FIXTURE_TEST_CASE(all_that_a_worker_said_and_printed_comes_before_the_news_of_its_death, OneAgent) {
  must_start(1, "print 20000");
  for (int i = 0; i < 100; ++i) tell(1, "say " + std::to_string(i));
  tell(1, "raise 9");
  BOOST_TEST(ended(1) == "was killed by SIGKILL (signal 9)");
  const std::vector<std::string> lines = of(1, "printed");
  BOOST_REQUIRE(lines.size() == 20'000U);
  for (std::size_t i = 0; i < lines.size(); ++i) BOOST_REQUIRE(lines[i] == "line " + std::to_string(i));
  BOOST_TEST(of(1, "said").size() == 100U);
  BOOST_TEST(of(1, "said").back() == "99");
  BOOST_TEST(ended_at == notes.size() - 1);
  BOOST_TEST(tail.ends_with("line 19998\nline 19999\n"));
  BOOST_TEST(read_file(scratch.path("1.log")).ends_with("line 19999\n"));
}

BOOST_FIXTURE_TEST_CASE(a_worker_gets_its_environment_and_the_factory_does_not, OneAgent) {
  BOOST_TEST(start(1, "env HEADWAY_TEST_RANK", {}, {{"HEADWAY_TEST_RANK", "1"}}).has_value());
  BOOST_TEST(said(1) == "1");
  must_start(2, "env HEADWAY_TEST_RANK");
  BOOST_TEST(said(2).empty());
}

BOOST_FIXTURE_TEST_CASE(the_factory_is_killed_and_each_worker_is_told_as_ended_and_the_next_one_gets_a_new_factory,
                        OneAgent) {
  must_start(1, "pids");
  must_start(2, "pids");
  const auto [factory, first] = pids(1);
  const auto [same, second] = pids(2);
  BOOST_TEST(factory == same);
  const Watch one(first);
  const Watch two(second);
  ::kill(factory, SIGKILL);
  BOOST_TEST(ended(1) == lost);
  BOOST_TEST(ended(2) == lost);
  BOOST_TEST(one.ends());
  BOOST_TEST(two.ends());
  must_start(3, "pids");
  BOOST_TEST(pids(3).first != factory);
}

BOOST_FIXTURE_TEST_CASE(the_guard_is_killed_and_its_workers_end_and_the_next_one_starts, OneAgent) {
  must_start(1, "pids");
  const Watch worker(pids(1).second);
  const std::vector<pid_t> guards = children_of_this_process();
  BOOST_REQUIRE(guards.size() == 1U);
  ::kill(guards[0], SIGKILL);
  BOOST_TEST(ended(1) == lost);
  BOOST_TEST(worker.ends());
  must_start(2, "say again");
  BOOST_TEST(said(2) == "again");
}

BOOST_FIXTURE_TEST_CASE(a_worker_ordered_of_a_factory_that_is_dying_is_told_as_ended, OneAgent) {
  must_start(1, "pids");
  const pid_t factory = pids(1).first;
  const Watch gone(factory);
  ::kill(factory, SIGKILL);
  BOOST_TEST(gone.ends());
  must_start(2, "say never");
  BOOST_TEST(ended(2) == lost);
  must_start(3, "say again");
  BOOST_TEST(said(3) == "again");
}

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
  BOOST_TEST(ended(1) == lost);
  run_until([&] { return !of(2, "said").empty() || !of(2, "ended").empty(); });
  BOOST_TEST(of(2, "said") == std::vector<std::string>{"again"});
}

BOOST_FIXTURE_TEST_CASE(a_factory_that_is_gone_before_the_agent_listens_to_it_ends_the_worker_that_was_ordered,
                        OneAgent) {
  wire::Ends control = wire::make_socket();
  control.b.close();
  wire::Ends life = make_pipe();
  const pid_t guard = fork();
  if (guard == 0) _exit(4);
  config.forked = std::make_shared<ForkedFactory>(ForkedFactory{control.a.release(), life.b.release(), guard});
  agent = std::make_unique<Agent>(loop, config, *this);
  boost::asio::post(loop, [this] { must_start(1, "say never"); });
  BOOST_TEST(ended(1) == lost);
}

BOOST_FIXTURE_TEST_CASE(a_signal_reaches_the_worker, OneAgent) {
  must_start(1, "say ready");
  said(1);
  agent->signal_worker(1, SIGTERM);
  BOOST_TEST(ended(1) == "was killed by SIGTERM (signal 15)");
  agent->signal_worker(1, SIGKILL);
  agent->signal_worker(77, SIGKILL);
  tell(1, "say nobody hears it");
  must_start(2, "exit 4");
  BOOST_TEST(ended(2) == "exited with code 4");
}

BOOST_FIXTURE_TEST_CASE(a_worker_dies_and_all_that_it_had_started_goes_though_one_hid_in_another_session, OneAgent) {
  must_start(1, "family");
  const Watch child(std::stoi(said(1, 0)));
  const Watch hidden(std::stoi(said(1, 1)));
  must_start(2, "say alive");
  said(2);
  tell(1, "exit 5");
  BOOST_TEST(ended(1) == "exited with code 5");
  BOOST_TEST(child.ends());
  BOOST_TEST(hidden.ends());
  tell(2, "say still");
  BOOST_TEST(said(2, 1) == "still");
}

BOOST_FIXTURE_TEST_CASE(the_agent_goes_and_nothing_of_its_is_left, OneAgent) {
  must_start(1, "family");
  const Watch child(std::stoi(said(1, 0)));
  const Watch hidden(std::stoi(said(1, 1)));
  must_start(2, "pids", {"another"});
  const Watch other(pids(2).second);
  BOOST_TEST(children_of_this_process().size() == 2U);
  agent.reset();
  BOOST_TEST(children_of_this_process().empty());
  BOOST_TEST(child.ends());
  BOOST_TEST(hidden.ends());
  BOOST_TEST(other.ends());
  loop.restart();
  loop.run();
  BOOST_TEST(of(1, "ended").empty());
}

BOOST_FIXTURE_TEST_CASE(a_front_end_that_is_full_stops_a_workers_output_and_gets_the_rest_later, OneAgent) {
  until_pause = 1;
  must_start(1, "print 50000");
  tell(1, "say printed");
  run_until([&] { return !of(1, "printed").empty(); });
  loop.poll();
  BOOST_TEST(of(1, "printed").size() < 50'000U);
  BOOST_TEST(of(1, "said").empty());
  agent->resume_output();
  BOOST_TEST(said(1) == "printed");
  tell(1, "exit 0");
  ended(1);
  BOOST_TEST(of(1, "printed").size() == 50'000U);
}

BOOST_FIXTURE_TEST_CASE(a_module_that_cannot_be_imported_is_told_and_workers_start, OneAgent) {
  must_start(1, "say hello", {"missing"});
  BOOST_TEST(said(1) == "hello");
  BOOST_TEST(of(0, "notice") ==
             std::vector<std::string>{"the worker factory could not import missing: no such module"});
}

BOOST_FIXTURE_TEST_CASE(a_module_that_starts_a_thread_makes_workers_start_by_exec_which_is_told_once, OneAgent) {
  must_start(1, "pids", {"thread"});
  must_start(2, "say two", {"thread"});
  const auto [factory, worker] = pids(1);
  BOOST_TEST(factory != worker);
  BOOST_TEST(said(2) == "two");
  tell(1, "exit 3");
  BOOST_TEST(ended(1) == "exited with code 3");
  BOOST_REQUIRE(of(0, "notice").size() == 1U);
  BOOST_TEST(of(0, "notice")[0].find(" threads, so forking is not safe") != std::string::npos);
  const Watch second(worker);
  ::kill(factory, SIGKILL);
  BOOST_TEST(ended(2) == lost);
  BOOST_TEST(second.ends());
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
  BOOST_TEST(node.ended(1).starts_with(
      "exited with code 139 (SIGSEGV): it was to be started by a worker factory, which has "));
}

BOOST_AUTO_TEST_CASE(a_worker_that_says_what_cannot_be_read_is_ended_with_the_reason) {
  OneAgent node;
  node.must_start(1, "babble");
  const std::string end = node.ended(1);
  BOOST_TEST(end.ends_with(": its session broke: a message of unknown kind \"Babble\""), end);
}

BOOST_AUTO_TEST_CASE(a_worker_whose_message_makes_no_sense_is_ended_with_the_reason) {
  OneAgent node;
  node.must_start(1, "say nonsense");
  const std::string end = node.ended(1);
  BOOST_TEST(end.ends_with(": its session broke: that makes no sense"), end);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::node
