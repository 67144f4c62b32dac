#include "cluster/remote_agent.hpp"

#include "cluster/fake_channel.hpp"
#include "node/scratch.hpp"
#include "wire/session_messages.hpp"

#include <csignal>
#include <thread>

/// A node of another machine as its driver sees it, whatever the agent there says, in any order.
namespace headway::cluster {

namespace {

struct Driver : node::AgentSink {
  Driver() {
    agent = std::make_unique<RemoteAgent>(
        loop, channel, std::chrono::seconds(10), *this,
        RemoteAgent::Handlers{[this](const std::string& reason, auto) { lost.push_back(reason); },
                              [this](double grace_s) { notices.push_back(grace_s); }},
        log_threads);
  }
  Result<void> worker_message(std::int64_t worker_id, wire::Frame frame) override {
    said.push_back(worker_id);
    const auto message = wire::from_frame<wire::FromWorker>(frame);
    return message ? Result<void>() : message.error();
  }
  void worker_exited(std::int64_t, const ExitStatus& status, const std::string&) override {
    ends.push_back(to_text(status));
  }
  bool worker_line(std::int64_t, std::string_view line) override {
    lines.emplace_back(line);
    return takes_lines;
  }
  void notice(const std::string&) override {}
  void use_seen() override { ++uses_seen; }

  void start(std::int64_t id, const std::string& log = "") {
    BOOST_REQUIRE(agent->start_worker({id, {}, {}, log}, wire::to_frame(wire::Train{})));
    channel->next<ToAgent, StartWorker>();
  }

  boost::asio::io_context loop{1};
  std::shared_ptr<node::LogThreads> log_threads = std::make_shared<node::LogThreads>(loop);
  std::shared_ptr<FakeChannel> channel = std::make_shared<FakeChannel>();
  std::vector<std::string> lost, ends, lines;
  std::vector<double> notices;
  std::vector<std::int64_t> said;
  bool takes_lines = true;
  int uses_seen = 0;
  std::unique_ptr<RemoteAgent> agent;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(remote_agent_suite, Driver)

BOOST_AUTO_TEST_CASE(a_message_that_cannot_be_read_ends_the_node_with_words) {
  channel->hear_frame({R"({"is":"Babble","fields":{}})", nullptr});
  BOOST_REQUIRE(lost.size() == 1U);
  BOOST_TEST(lost[0] == "its connection broke: a message of unknown kind \"Babble\"");
  BOOST_TEST(channel->closed);
}

BOOST_AUTO_TEST_CASE(a_notice_period_that_is_no_number_of_seconds_ends_the_node_and_is_not_believed) {
  channel->hear(Preempting{1e300});
  BOOST_TEST(notices.empty());
  BOOST_REQUIRE(lost.size() == 1U);
  BOOST_TEST(lost[0] == "its connection broke: its notice period is 1e+300; allowed: 0 to 604800");
}

BOOST_AUTO_TEST_CASE(a_worker_whose_message_cannot_be_read_is_killed_and_heard_no_more) {
  start(7);
  const wire::Frame babble{R"({"is":"Babble","fields":{}})", nullptr};
  for (int i = 0; i < 2; ++i) channel->hear_frame(enclose(WorkerTold{7, 0}, {babble.json, nullptr}));
  BOOST_TEST(said.size() == 1U);
  const auto killed = channel->next<ToAgent, SignalWorker>();
  BOOST_TEST(killed.worker_id == 7);
  BOOST_TEST(killed.signal == SIGKILL);
  channel->hear(WorkerGone{7, {true, SIGKILL, ""}});
  BOOST_REQUIRE(ends.size() == 1U);
  BOOST_TEST(ends[0] == "was killed by SIGKILL (signal 9): its session broke: a message of unknown kind \"Babble\"");
  BOOST_TEST(lost.empty());
}

BOOST_AUTO_TEST_CASE(a_package_is_sent_while_a_worker_there_needs_it) {
  const std::string hash(64, 'a');
  node::WorkerLaunch launch;
  launch.worker_id = 7;
  launch.factory.recipe = "{}";
  launch.factory.packages = {{hash, std::make_shared<const std::string>("the bytes")}};
  BOOST_REQUIRE(agent->start_worker(launch, wire::to_frame(wire::Train{})));
  const auto start = channel->next<ToAgent, StartWorker>();
  BOOST_TEST(start.launch.factory.packages.front().hash == hash);
  BOOST_TEST(!start.launch.factory.packages.front().bytes);
  channel->hear(NeedPackage{hash});
  BOOST_REQUIRE(!channel->sent.empty());
  BOOST_TEST(*channel->sent.front().blob == "the bytes");
  BOOST_TEST((channel->next<ToAgent, PackageBytes>().hash) == hash);
  channel->hear(WorkerGone{7, {true, SIGKILL, ""}});
  channel->hear(NeedPackage{hash});
  BOOST_REQUIRE(!channel->sent.empty());
  BOOST_TEST(!channel->sent.front().blob);
  BOOST_TEST(lost.empty());
}

BOOST_AUTO_TEST_CASE(a_message_without_the_bytes_that_it_claims_ends_its_worker_alone) {
  start(7);
  channel->hear(WorkerTold{7, 1'000'000}, std::make_shared<const std::string>("short"));
  BOOST_TEST((channel->next<ToAgent, SignalWorker>().worker_id) == 7);
  BOOST_TEST(lost.empty());
}

BOOST_AUTO_TEST_CASE(workers_that_nobody_has_started_are_not_heard) {
  channel->hear_frame(enclose(WorkerTold{9, 0}, wire::to_frame(wire::TrainingReturned{})));
  channel->hear(WorkerPrinted{9}, std::make_shared<const std::string>("line"));
  channel->hear(WorkerGone{9, {false, 0, ""}});
  BOOST_TEST(said.empty());
  BOOST_TEST(lines.empty());
  BOOST_TEST(ends.empty());
}

BOOST_AUTO_TEST_CASE(output_is_paused_once_and_resumed_once) {
  start(7);
  takes_lines = false;
  for (int i = 0; i < 2; ++i) channel->hear(WorkerPrinted{7}, std::make_shared<const std::string>("line"));
  channel->next<ToAgent, PauseOutput>();
  BOOST_TEST(channel->sent.empty());
  agent->resume_output();
  agent->resume_output();
  channel->next<ToAgent, ResumeOutput>();
  BOOST_TEST(channel->sent.empty());
}

BOOST_AUTO_TEST_CASE(a_log_whose_disk_does_not_answer_pauses_the_output_until_it_does_and_keeps_every_line) {
  node::StalledFile log;
  start(7, log.path);
  const auto line = std::make_shared<const std::string>(std::size_t{64} << 10, 'x');
  std::size_t sent = 0;
  for (; channel->sent.empty() && sent < 100; ++sent) channel->hear(WorkerPrinted{7}, line);
  channel->next<ToAgent, PauseOutput>();
  BOOST_TEST(lines.size() == sent);
  agent->resume_output();  // The front end alone has space again.
  BOOST_TEST(channel->sent.empty());
  channel->hear(WorkerGone{7, {false, 0, ""}});
  BOOST_TEST(ends.empty());
  std::string stored;
  std::thread disk([&] { stored = log.take(sent * (line->size() + 1)); });
  while (ends.empty()) loop.run_one();
  disk.join();
  channel->next<ToAgent, ResumeOutput>();
  std::string printed;
  for (std::size_t i = 0; i < sent; ++i) printed += *line + "\n";
  BOOST_TEST((stored == printed));
}

BOOST_AUTO_TEST_CASE(a_node_that_has_left_is_lost_at_its_end_and_gets_no_lease_any_more) {
  channel->hear(AskLease{1});
  BOOST_TEST((channel->next<ToAgent, GrantLease>().number) == 1);
  channel->hear(Leaving{});
  channel->hear(AskLease{2});
  BOOST_TEST(channel->sent.empty());
  BOOST_TEST(lost.empty());
  channel->break_off(std::nullopt);
  BOOST_REQUIRE(lost.size() == 1U);
  BOOST_TEST(lost[0] == "it left");
}

BOOST_AUTO_TEST_CASE(an_examination_under_way_is_answered_when_the_node_is_lost) {
  std::string answer;
  agent->examine(7, [&](const ProcessSeen& seen) { answer = seen.text; });
  channel->break_off(std::nullopt);
  BOOST_TEST(answer == "its node is lost\n");
}

BOOST_AUTO_TEST_CASE(what_is_in_use_there_is_what_the_agent_told_last) {
  BOOST_TEST(agent->use(true) == nullptr);
  node::Use use{0.5, 1e9, 4e9, {{0, "H100", 0.37, 1e9, 80e9}}, ""};
  channel->hear(UseTold{use});
  use.cpu_share = 0.75;
  channel->hear(UseTold{use});
  BOOST_TEST(uses_seen == 2);
  BOOST_REQUIRE(agent->use(true) != nullptr);
  BOOST_TEST(agent->use(true)->cpu_share.value() == 0.75);
  BOOST_TEST(agent->use(true)->gpus.at(0).name == "H100");
  BOOST_TEST(lost.empty());
}

BOOST_AUTO_TEST_CASE(shares_and_sizes_that_make_no_sense_end_the_node_and_are_not_shown) {
  channel->hear(UseTold{{7, 1, 2, {}, ""}});
  BOOST_TEST(agent->use(true) == nullptr);
  BOOST_REQUIRE(lost.size() == 1U);
  BOOST_TEST(lost[0] == "its connection broke: a share in use is 7; allowed: 0 to 1");
  BOOST_TEST(!check_message(UseTold{{0.5, -1, 2, {}, ""}}));
  BOOST_TEST(!check_message(UseTold{{0.5, 1, 2, {{0, "H100", 0.5, 1e300, 1}}, ""}}));
  BOOST_TEST(!check_message(UseTold{{0.5, 1, 2, std::vector<node::GpuUse>(2000), ""}}));
  BOOST_TEST(check_message(UseTold{}).has_value());
}

BOOST_AUTO_TEST_CASE(an_agent_that_has_gone_hears_nothing_and_its_timer_touches_nothing) {
  agent.reset();
  channel->next<ToAgent, Dismiss>();
  channel->hear(Leaving{});
  channel->break_off(std::nullopt);
  loop.poll();
  BOOST_TEST(lost.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::cluster
