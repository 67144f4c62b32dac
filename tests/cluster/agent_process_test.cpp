#include "cluster/agent_process.hpp"

#include "cluster/bounded_loop.hpp"
#include "cluster/fake_channel.hpp"
#include "node/scratch.hpp"
#include "wire/session_messages.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

/// The process that offers a machine to a driver: what it does in which order, whatever the driver
/// says.
namespace headway::cluster {

namespace {

/// Notes what it receives.
class FakeAgent : public node::NodeAgent {
 public:
  explicit FakeAgent(std::vector<std::string>& notes) : notes_(notes) {}
  Result<void> warm(const std::vector<std::string>&) override { return {}; }
  Result<void> start_worker(const node::WorkerLaunch& launch, wire::Frame first) override {
    notes_.push_back("start " + std::to_string(launch.worker_id));
    if (!wire::from_frame<wire::ToWorker>(first)) notes_.emplace_back("with nonsense");
    started = launch;
    return {};
  }
  void send(std::int64_t worker_id, wire::Frame) override { notes_.push_back("tell " + std::to_string(worker_id)); }
  void signal_worker(std::int64_t worker_id, int signal) override {
    notes_.push_back("signal " + std::to_string(worker_id) + " " + std::to_string(signal));
  }
  void resume_output() override { notes_.emplace_back("resume"); }
  void examine(std::int64_t, Examined done) override { examined = std::move(done); }
  void hold_until(node::LeaseTime end) override { held_until = end; }
  const node::Use* use(bool with_gpus) override {
    ++asked_for_use;
    asked_for_gpus = with_gpus;
    return use_known ? &*use_known : nullptr;
  }
  void close(std::function<void()> closed) override {
    notes_.emplace_back("gone");
    finish = std::move(closed);
    if (!slow_to_close) finish();
  }

  node::WorkerLaunch started;  ///< The last one.
  bool slow_to_close = false;
  std::function<void()> finish;  ///< Of closing.
  Examined examined;
  node::LeaseTime held_until{};
  std::optional<node::Use> use_known;
  int asked_for_use = 0;
  bool asked_for_gpus = false;

 private:
  std::vector<std::string>& notes_;
};

struct Host : BoundedLoop {
  Host() {
    AgentProcessConfig config;
    config.driver = {"driver.example", 4000};
    config.token = fake_token;
    config.node.hostname = "host-b";
    config.recipes = {{"make"}, scratch.path("packages")};
    AgentProcess::World world;
    world.make_agent = [this](node::AgentSink& given) {
      sink = &given;
      auto made = std::make_unique<FakeAgent>(notes);
      agent = made.get();
      return made;
    };
    world.now = [this] { return now; };
    host = std::make_unique<AgentProcess>(loop, std::move(config), std::move(world));
    host->joined(std::shared_ptr<SecureChannel>(channel));
    channel->next<FromAgent, Join>();
  }

  void welcome() {
    channel->hear(Welcome{"node-1", proof_of(fake_token, "driver", channel->binding()), 10});
    BOOST_REQUIRE(agent != nullptr);
    channel->next<FromAgent, AskLease>();
  }
  bool ended_as(AgentProcess::End how) const { return host->ended() == how; }

  void order_by_recipe(std::int64_t id) {
    StartWorker order;
    order.launch.worker_id = id;
    order.launch.factory.recipe = "the recipe";
    order.launch.factory.packages = {{package}};
    channel->hear_frame(enclose(order, wire::to_frame(wire::Train{})));
  }

  const std::string package = std::string(64, 'a');
  node::Scratch scratch;
  std::shared_ptr<FakeChannel> channel = std::make_shared<FakeChannel>();
  node::LeaseTime now = std::chrono::seconds(1000);
  std::vector<std::string> notes;
  node::AgentSink* sink = nullptr;
  FakeAgent* agent = nullptr;
  std::unique_ptr<AgentProcess> host;
};

using Notes = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(agent_process_suite, Host)

BOOST_AUTO_TEST_CASE(it_trusts_nobody_without_the_token_and_starts_nothing_for_them) {
  channel->hear(Welcome{"node-1", proof_of("another token, quite as long as it", "driver", channel->binding()), 10});
  BOOST_TEST(agent == nullptr);
  BOOST_TEST(!channel->trusted);
  BOOST_TEST(ended_as(AgentProcess::End::refused));
}

BOOST_AUTO_TEST_CASE(an_order_before_the_welcome_ends_it) {
  channel->hear(SignalWorker{1, 9});
  BOOST_TEST(agent == nullptr);
  BOOST_TEST(ended_as(AgentProcess::End::refused));
}

BOOST_AUTO_TEST_CASE(a_lease_that_makes_no_sense_ends_it_before_anything_is_started) {
  channel->hear(Welcome{"node-1", proof_of(fake_token, "driver", channel->binding()), 1e300});
  BOOST_TEST(agent == nullptr);
  BOOST_TEST(ended_as(AgentProcess::End::refused));
}

BOOST_AUTO_TEST_CASE(a_lease_counts_from_when_it_was_asked_for) {
  welcome();
  BOOST_TEST((agent->held_until == now + std::chrono::seconds(10)));
  now += std::chrono::seconds(6);
  channel->hear(GrantLease{1});
  BOOST_TEST((agent->held_until == now + std::chrono::seconds(4)));
  channel->hear(GrantLease{1});  // An answer counts once, and one to nothing not at all.
  channel->hear(GrantLease{77});
  BOOST_TEST((agent->held_until == now + std::chrono::seconds(4)));
}

BOOST_AUTO_TEST_CASE(what_comes_after_the_lease_has_run_out_is_not_done) {
  welcome();
  now += std::chrono::seconds(10);
  channel->hear_frame(enclose(StartWorker{{3, {}, {}, ""}, 0}, wire::to_frame(wire::Train{})));
  BOOST_TEST(notes == Notes{"gone"});
  BOOST_TEST(ended_as(AgentProcess::End::lost));
}

BOOST_AUTO_TEST_CASE(workers_are_started_told_and_signaled_in_the_drivers_order) {
  welcome();
  channel->hear_frame(enclose(StartWorker{{3, {}, {}, ""}, 0}, wire::to_frame(wire::Train{})));
  channel->hear_frame(enclose(TellWorker{3, 0}, wire::to_frame(wire::EndSession{})));
  channel->hear(SignalWorker{3, 15});
  BOOST_TEST(notes == (Notes{"start 3", "tell 3", "signal 3 15"}));
  BOOST_TEST(sink->worker_message(3, wire::to_frame(wire::SessionReady{42})).has_value());
  sink->worker_exited(3, {false, 0, ""}, "");
  BOOST_TEST((channel->next<FromAgent, WorkerTold>().worker_id) == 3);
  BOOST_TEST((channel->next<FromAgent, WorkerGone>().worker_id) == 3);
}

BOOST_AUTO_TEST_CASE(workers_wait_for_a_package_that_is_asked_for_once) {
  welcome();
  order_by_recipe(3);
  order_by_recipe(4);
  channel->hear_frame(enclose(TellWorker{3, 0}, wire::to_frame(wire::EndSession{})));
  run_until([&] { return !channel->sent.empty(); });
  BOOST_TEST((channel->next<FromAgent, NeedPackage>().hash) == package);
  channel->hear(SignalWorker{4, 15});
  BOOST_TEST(notes.empty());
  channel->hear(PackageBytes{package}, std::make_shared<const std::string>("the bytes"));
  run_until([&] { return notes.size() == 4; });
  BOOST_TEST(notes == (Notes{"start 3", "tell 3", "start 4", "signal 4 15"}));
  BOOST_TEST(channel->sent.empty());
  BOOST_TEST(agent->started.factory.command == (std::vector<std::string>{"make", "the recipe"}));
  const Json told = *parse_json(agent->started.new_factory_env.at(RecipeConfig::arrived_variable), "paths");
  const std::string path(told.as_object().at(package).as_string());
  BOOST_TEST(node::read_file(path) == "the bytes");
  // It has no name, and goes with the last worker that needed it.
  BOOST_TEST(std::filesystem::is_empty(scratch.path("packages")));
  sink->worker_exited(3, {false, 0, ""}, "");
  BOOST_TEST(node::read_file(path) == "the bytes");
  sink->worker_exited(4, {false, 0, ""}, "");
  BOOST_TEST(!std::filesystem::exists(path));
}

BOOST_AUTO_TEST_CASE(a_package_that_is_unpacked_there_is_not_asked_for) {
  welcome();
  std::filesystem::create_directories(scratch.path("packages") + "/" + package);
  order_by_recipe(3);
  run_until([&] { return !notes.empty(); });
  BOOST_TEST(notes == Notes{"start 3"});
  BOOST_TEST(channel->sent.empty());
  BOOST_TEST(agent->started.new_factory_env.at(RecipeConfig::arrived_variable) == "{}");
}

BOOST_AUTO_TEST_CASE(a_worker_that_is_killed_while_it_waits_for_a_package_was_never_started) {
  welcome();
  order_by_recipe(3);
  run_until([&] { return !channel->sent.empty(); });
  channel->next<FromAgent, NeedPackage>();
  channel->hear(SignalWorker{3, SIGKILL});
  BOOST_TEST((channel->next<FromAgent, WorkerGone>().status.code) == SIGKILL);
  channel->hear(PackageBytes{package}, std::make_shared<const std::string>("the bytes"));
  std::filesystem::create_directories(scratch.path("packages") + "/" + package);
  order_by_recipe(4);
  run_until([&] { return !notes.empty(); });
  BOOST_TEST(notes == Notes{"start 4"});
}

BOOST_AUTO_TEST_CASE(a_package_that_nobody_has_or_that_cannot_be_stored_ends_its_workers_with_words) {
  welcome();
  order_by_recipe(3);
  run_until([&] { return !channel->sent.empty(); });
  channel->next<FromAgent, NeedPackage>();
  channel->hear(PackageBytes{package});
  BOOST_TEST((channel->next<FromAgent, WorkerGone>().status.detail.find("the driver does not have it any more")) !=
             std::string::npos);
  std::ofstream(scratch.path("packages")) << "no folder";
  order_by_recipe(4);
  run_until([&] { return !channel->sent.empty(); });
  channel->next<FromAgent, NeedPackage>();
  channel->hear(PackageBytes{package}, std::make_shared<const std::string>("the bytes"));
  run_until([&] { return !channel->sent.empty(); });
  BOOST_TEST((channel->next<FromAgent, WorkerGone>().status.detail.find("cannot be stored in ")) != std::string::npos);
  BOOST_TEST(notes.empty());
}

BOOST_AUTO_TEST_CASE(a_package_whose_name_is_no_hash_ends_the_connection) {
  welcome();
  StartWorker order;
  order.launch.factory.recipe = "the recipe";
  order.launch.factory.packages = {{"../../home"}};
  channel->hear_frame(enclose(order, wire::to_frame(wire::Train{})));
  BOOST_TEST(ended_as(AgentProcess::End::lost));
}

BOOST_AUTO_TEST_CASE(a_message_to_a_worker_that_is_not_there_whole_kills_the_worker) {
  welcome();
  channel->hear(TellWorker{3, 1000}, std::make_shared<const std::string>("short"));
  BOOST_TEST(notes == Notes{"signal 3 9"});
}

BOOST_AUTO_TEST_CASE(output_waits_while_the_connection_is_full_or_the_driver_says_so) {
  welcome();
  BOOST_TEST(sink->worker_line(3, "one"));
  channel->queued = SecureChannel::drain_bytes;
  BOOST_TEST(!sink->worker_line(3, "two"));
  channel->queued = 0;
  channel->hear(PauseOutput{});
  BOOST_TEST(!sink->worker_line(3, "three"));
  channel->hear(ResumeOutput{});
  BOOST_TEST(notes == Notes{"resume"});
  BOOST_TEST(sink->worker_line(3, "four"));
}

BOOST_AUTO_TEST_CASE(it_tells_how_much_is_in_use_as_it_is_seen_but_not_over_a_link_that_is_full) {
  welcome();
  BOOST_TEST(agent->asked_for_use == 1);
  BOOST_TEST(!agent->asked_for_gpus);  // It offers none.
  BOOST_TEST(channel->sent.empty());
  agent->use_known = node::Use{0.5, 1e9, 4e9, {}, ""};
  sink->use_seen();
  BOOST_TEST((channel->next<FromAgent, UseTold>().use.cpu_share.value()) == 0.5);
  BOOST_TEST(agent->asked_for_use == 2);
  channel->queued = SecureChannel::drain_bytes;
  sink->use_seen();
  BOOST_TEST(channel->sent.empty());
  BOOST_TEST(agent->asked_for_use == 3);
}

BOOST_AUTO_TEST_CASE(a_first_sigterm_gives_notice_and_a_second_one_ends_it) {
  welcome();
  host->signaled(SIGTERM);
  BOOST_TEST((channel->next<FromAgent, Preempting>().grace_s) == 30);
  BOOST_TEST(!host->ended().has_value());
  host->signaled(SIGTERM);
  BOOST_TEST(ended_as(AgentProcess::End::left));
  BOOST_TEST(notes == Notes{"gone"});
  channel->next<FromAgent, Leaving>();
  BOOST_TEST(channel->finished);
}

BOOST_AUTO_TEST_CASE(its_workers_are_gone_before_it_says_that_it_leaves) {
  welcome();
  agent->slow_to_close = true;
  channel->hear(Dismiss{});
  BOOST_TEST(ended_as(AgentProcess::End::dismissed));
  BOOST_TEST(notes == Notes{"gone"});
  channel->hear_frame(enclose(StartWorker{{3, {}, {}, ""}, 0}, wire::to_frame(wire::Train{})));
  BOOST_TEST(channel->sent.empty());
  agent->finish();
  channel->next<FromAgent, Leaving>();
  BOOST_TEST(notes == Notes{"gone"});
}

BOOST_AUTO_TEST_CASE(a_sigterm_while_it_ends_is_no_notice) {
  welcome();
  agent->slow_to_close = true;
  channel->hear(Dismiss{});
  host->signaled(SIGTERM);
  BOOST_TEST(channel->sent.empty());
  agent->finish();
  channel->next<FromAgent, Leaving>();
}

BOOST_AUTO_TEST_CASE(a_connection_that_breaks_ends_its_workers) {
  welcome();
  channel->break_off(Error{ErrorKind::unknown_outcome, "connection reset"});
  BOOST_TEST(notes == Notes{"gone"});
  BOOST_TEST(ended_as(AgentProcess::End::lost));
}

BOOST_AUTO_TEST_CASE(an_examination_that_ends_after_the_host_touches_nothing) {
  welcome();
  channel->hear(ExamineWorker{3, 1});
  const auto examined = agent->examined;
  host.reset();
  examined({"late"});
  BOOST_TEST(channel->sent.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::cluster
