#include "node/one_agent.hpp"

#include <thread>

/// The agent with a real factory and real workers: what they said and printed, and how they ended,
/// however that was.
namespace headway::node {

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
  BOOST_TEST(ended(1) == lost_with_factory);
  BOOST_TEST(ended(2) == lost_with_factory);
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
  BOOST_TEST(ended(1) == lost_with_factory);
  BOOST_TEST(worker.ends());
  must_start(2, "say again");
  BOOST_TEST(said(2) == "again");
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
  close();
  BOOST_TEST(children_of_this_process().empty());
  BOOST_TEST(child.ends());
  BOOST_TEST(hidden.ends());
  BOOST_TEST(other.ends());
  loop.restart();
  loop.run();
  BOOST_TEST(of(1, "ended").empty());
}

BOOST_FIXTURE_TEST_CASE(a_log_whose_disk_does_not_answer_holds_up_no_other_worker, OneAgent) {
  StalledFile log;
  const Result<void> started = agent->start_worker({1, {}, {}, log.path}, order_of("print 20000"));
  BOOST_TEST(started.has_value());
  tell(1, "say printed");
  BOOST_TEST(said(1) == "printed");
  must_start(2, "exit 4");
  BOOST_TEST(ended(2) == "exited with code 4");
  tell(1, "exit 5");
  std::thread disk([&] { log.take(200'000); });
  BOOST_TEST(ended(1) == "exited with code 5");
  disk.join();
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

BOOST_FIXTURE_TEST_CASE(how_much_of_the_machine_is_in_use_is_seen_when_somebody_asks, OneAgent) {
  BOOST_TEST(agent->use(false) == nullptr);
  BOOST_TEST(agent->use(false) == nullptr);
  run_until([&] { return !of(0, "use").empty(); });
  const Use* use = agent->use(false);
  BOOST_REQUIRE(use != nullptr);
  BOOST_TEST(use->memory_bytes.value() > 0);
  BOOST_TEST(use->memory_bytes.value() < use->memory_total_bytes.value());
  BOOST_TEST(!use->cpu_share.has_value());  // That is of the time between two looks.
  BOOST_TEST(use->why_no_gpus.empty());
  BOOST_TEST(of(0, "use").size() == 1U);
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
  BOOST_TEST(ended(2) == lost_with_factory);
  BOOST_TEST(second.ends());
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
