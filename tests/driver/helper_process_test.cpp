#include "driver/helper_process.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <map>
#include <unistd.h>

/// A process that is no rank, from its claim to its end, on a node and an engine that order what
/// happens.
namespace headway::driver {
namespace {

struct FakeAgent : node::NodeAgent {
  Result<void> warm(const std::vector<std::string>&) override { return {}; }
  Result<void> start_worker(const node::WorkerLaunch& launch, wire::Frame first) override {
    if (full) return Error{ErrorKind::unavailable, "no processes left"};
    launches[launch.worker_id] = launch;
    sent.push_back(std::move(first));
    return {};
  }
  void send(std::int64_t, wire::Frame frame) override { sent.push_back(std::move(frame)); }
  void signal_worker(std::int64_t, int signal) override { signals.push_back(signal); }
  void resume_output() override {}
  void examine(std::int64_t, Examined) override {}

  bool full = false;
  std::map<std::int64_t, node::WorkerLaunch> launches;
  std::vector<wire::Frame> sent;
  std::vector<int> signals;
};

struct FakeEngine : engine::Engine {
  void acquire(std::int64_t holder, const engine::Wanted&, Answers answers) override { asked[holder] = answers; }
  void release(std::int64_t holder) override { released.push_back(holder); }
  int possible(std::int64_t, const engine::Wanted&) const override { return 0; }
  Result<void> check_possible(const engine::Wanted&) const override { return {}; }
  engine::EngineView view() const override { return {}; }
  Resources total() const override { return {}; }
  Resources available() const override { return {}; }
  void add(node::NodeResources) override {}
  void remove(const std::string&) override {}
  void drain(const std::string&) override {}
  std::vector<node::NodeResources> nodes() const override { return {}; }
  void on_change(std::function<void()>) override {}

  std::map<std::int64_t, Answers> asked;
  std::vector<std::int64_t> released;
};

const Slot slot{"node-1", "host-1", "10.0.0.1", 8, {"0", "3"}};

struct Fixture {
  Fixture() {
    auto made = std::make_unique<FakeAgent>();
    agent = made.get();
    nodes.add("node-1", std::move(made));
  }

  std::shared_ptr<HelperProcess> begin(std::variant<engine::Wanted, Slot> place) {
    HelperPlan plan;
    plan.name = "validation of checkpoint_000003";
    plan.start.role = wire::role_json(wire::ValidationRole{"/run/checkpoint_000003", {}, false});
    plan.place = std::move(place);
    HelperProcess::Handlers handlers;
    handlers.waiting = [this](const std::string& reason) { heard.push_back("waits: " + reason); };
    handlers.ready = [this] { heard.push_back("ready"); };
    handlers.message = [this](const wire::FromWorker&) { heard.push_back("message"); };
    handlers.line = [this](std::string_view line) {
      heard.push_back("line: " + std::string(line));
      return false;
    };
    handlers.ended = [this](const HelperEnd& end) {
      heard.push_back("ended: " + to_text(end.status) + (end.refused ? " (refused)" : ""));
    };
    auto process = std::make_shared<HelperProcess>(
        HelperServices{&routes, &nodes, &engine, "the token of helpers",
                       [this](wire::Fd fd, const node::FactoryChoice&) { guest_fd = std::move(fd); }},
        owner, std::move(plan), std::move(handlers));
    process->begin();
    return process;
  }

  engine::Engine::Answers& answers() { return engine.asked.begin()->second; }
  template <class M>
  void receive(const std::shared_ptr<HelperProcess>& process, const M& message, std::vector<wire::Fd> fds = {}) {
    wire::Frame frame = wire::to_frame(message);
    frame.fds = std::move(fds);
    BOOST_TEST(routes.find(process->worker_id())->worker_message(process->worker_id(), std::move(frame)).has_value());
  }
  void exit(const std::shared_ptr<HelperProcess>& process, const ExitStatus& status) {
    const std::int64_t id = process->worker_id();
    if (const auto listener = routes.remove(id)) listener->worker_exited(id, status, "last words");
  }

  boost::asio::io_context loop;
  Nodes nodes{loop};
  FakeAgent* agent = nullptr;
  FakeEngine engine;
  WorkerRoutes routes;
  std::shared_ptr<int> owner = std::make_shared<int>(0);
  std::vector<std::string> heard;
  wire::Fd guest_fd;
};

const engine::Wanted one{1, 1, {}, engine::Placement::pack};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(helper_process_suite, Fixture)

BOOST_AUTO_TEST_CASE(it_waits_for_its_claim_and_then_starts_with_its_role_and_its_gpus) {
  const auto process = begin(one);
  answers().pending("all CPUs are claimed");
  BOOST_TEST(agent->launches.empty());
  answers().granted(engine::Grant{{slot}, {}});
  BOOST_REQUIRE(agent->launches.contains(process->worker_id()));
  BOOST_TEST(agent->launches.at(process->worker_id()).env.at("CUDA_VISIBLE_DEVICES") == "0,3");
  const auto first = std::get<wire::StartSession>(wire::from_frame<wire::ToWorker>(agent->sent.front()).value());
  BOOST_TEST(first.plan.slot.node_id == "node-1");
  BOOST_TEST(first.peer_token == "the token of helpers");
  BOOST_TEST(first.plan.slot.cpus == 1);  // It asked for none.
  BOOST_TEST(std::holds_alternative<wire::ValidationRole>(wire::to_role(first.role).value()));
  BOOST_TEST(heard == std::vector<std::string>{"waits: all CPUs are claimed"});
}

BOOST_AUTO_TEST_CASE(it_is_ready_speaks_prints_and_ends_once) {
  const auto process = begin(slot);
  BOOST_TEST(!process->ready());
  receive(process, wire::SessionReady{12});
  BOOST_TEST(process->ready());
  receive(process, wire::Validated{{{"accuracy", 1}}});
  BOOST_TEST(!routes.find(process->worker_id())->worker_line(process->worker_id(), "hello"));
  exit(process, {false, 0, ""});
  BOOST_TEST(routes.find(process->worker_id()) == nullptr);
  process->end(control::EndMode::kill);
  const std::vector<std::string> expected{"ready", "message", "line: hello", "ended: exited with code 0"};
  BOOST_TEST(heard == expected);
  BOOST_TEST(agent->signals.empty());
}

BOOST_AUTO_TEST_CASE(what_was_claimed_is_released_at_its_end_and_a_given_slot_is_not) {
  const auto claimed = begin(one);
  answers().granted(engine::Grant{{slot}, {}});
  const auto given = begin(slot);
  exit(claimed, {true, SIGSEGV, ""});
  exit(given, {false, 0, ""});
  BOOST_TEST(engine.released == std::vector<std::int64_t>{-claimed->worker_id()});
}

BOOST_AUTO_TEST_CASE(a_claim_that_can_never_be_had_ends_it_with_the_reason) {
  const auto process = begin(one);
  answers().granted(Error{ErrorKind::invalid_argument, "there are no GPUs"});
  BOOST_TEST(heard == std::vector<std::string>{
                          "ended: exited with code 127: could not be started: there are no GPUs (refused)"});
  BOOST_TEST(engine.released.size() == 1);
}

BOOST_AUTO_TEST_CASE(a_node_without_processes_ends_it_with_the_reason) {
  agent->full = true;
  const auto process = begin(slot);
  BOOST_TEST(heard == std::vector<std::string>{"ended: exited with code 127: could not be started: no processes left"});
}

BOOST_AUTO_TEST_CASE(one_that_still_waits_ends_at_once_and_a_late_grant_starts_nothing) {
  const auto process = begin(one);
  process->end(control::EndMode::graceful);
  answers().granted(engine::Grant{{slot}, {}});
  BOOST_TEST(agent->launches.empty());
  BOOST_TEST(heard.size() == 1);
  BOOST_TEST(engine.released == std::vector<std::int64_t>{-process->worker_id()});
}

BOOST_AUTO_TEST_CASE(it_is_ended_gently_first_and_harder_later) {
  const auto process = begin(slot);
  process->end(control::EndMode::graceful);
  process->end(control::EndMode::terminate);
  process->end(control::EndMode::kill);
  BOOST_TEST(std::holds_alternative<wire::EndSession>(wire::from_frame<wire::ToWorker>(agent->sent.back()).value()));
  BOOST_TEST((agent->signals == std::vector<int>{SIGTERM, SIGKILL}));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_an_error_that_ends_its_session) {
  const auto process = begin(slot);
  const auto listener = routes.find(process->worker_id());
  BOOST_TEST(!listener->worker_message(process->worker_id(), wire::Frame{"nonsense", nullptr}).has_value());
}

BOOST_AUTO_TEST_CASE(a_runtime_within_it_becomes_a_guest_and_other_descriptors_are_closed) {
  const auto process = begin(slot);
  const int opened = dup(0);
  std::vector<wire::Fd> fds;
  fds.emplace_back(opened);
  receive(process, wire::OpenRuntime{}, std::move(fds));
  BOOST_TEST(guest_fd.get() == opened);
  const int stray = dup(0);
  fds.clear();
  fds.emplace_back(stray);
  receive(process, wire::SessionReady{1}, std::move(fds));
  BOOST_TEST(::close(stray) == -1);
}

BOOST_AUTO_TEST_CASE(nobody_is_called_once_the_owner_is_gone) {
  const auto process = begin(slot);
  owner.reset();
  receive(process, wire::SessionReady{1});
  exit(process, {false, 0, ""});
  BOOST_TEST(heard.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
