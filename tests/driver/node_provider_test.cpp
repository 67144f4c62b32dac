#include "cluster/agent_messages.hpp"
#include "cluster/secure_channel.hpp"
#include "driver/run.hpp"
#include "driver/runtime.hpp"
#include "storage/scratch.hpp"
#include "wire/session_messages.hpp"

/// A run that waits for nodes, and a provider that brings one. The node's agent is the test's own:
/// it joins over the network as any does, and its worker says what a worker's session says.
namespace headway::driver {

namespace {

using storage::Scratch;

constexpr auto token = "a token of sixteen characters or more";

/// What happened, in order; to be read when the runtime has ended.
using Notes = std::vector<std::string>;

class JoinedAgent {
 public:
  JoinedAgent(std::shared_ptr<cluster::SecureChannel> channel, Notes& notes)
      : channel_(std::move(channel)), notes_(&notes) {
    channel_->trust();
    channel_->start(
        [this](const wire::Frame& frame) {
          hear(frame);
          return Result<void>();
        },
        [this](const std::optional<Error>&) {
          if (!leaves_) notes_->push_back("disconnected");
        });
    channel_->send(wire::to_frame(cluster::Join{HEADWAY_VERSION,
                                                cluster::proof_of(token, "agent", channel_->binding()),
                                                "host-b",
                                                {{"CPU", 4}, {"far", 1}},
                                                {},
                                                {{"brought", "yes"}}}));
  }
  ~JoinedAgent() {
    channel_->hand_over(nullptr, nullptr);
    channel_->finish();
  }

 private:
  void hear(const wire::Frame& frame) {
    const auto message = wire::from_frame<cluster::ToAgent>(frame);
    BOOST_REQUIRE(message.has_value());
    if (const auto* start = std::get_if<cluster::StartWorker>(&*message)) {
      notes_->push_back("worker started");
      say(start->launch.worker_id, wire::to_frame(wire::SessionReady{1234}));
    } else if (const auto* told = std::get_if<cluster::TellWorker>(&*message)) {
      const auto inner = cluster::inner_frame(told->json_size, frame.blob);
      hear_for_worker(told->worker_id, *wire::from_frame<wire::ToWorker>(*inner));
    } else if (std::holds_alternative<cluster::Dismiss>(*message)) {
      notes_->push_back("dismissed");
      leaves_ = true;
      channel_->send(wire::to_frame(cluster::Leaving{}));
      channel_->finish();
    }
  }

  void hear_for_worker(std::int64_t worker_id, const wire::ToWorker& message) {
    if (std::holds_alternative<wire::Train>(message)) {
      notes_->push_back("trained");
      say(worker_id, wire::to_frame(wire::TrainingReturned{}));
    } else if (std::holds_alternative<wire::EndSession>(message)) {
      channel_->send(wire::to_frame(cluster::WorkerGone{worker_id, {}}));
    }
  }

  void say(std::int64_t worker_id, wire::Frame frame) {
    channel_->send(cluster::enclose(cluster::WorkerTold{worker_id, 0}, std::move(frame)));
  }

  std::shared_ptr<cluster::SecureChannel> channel_;
  Notes* notes_;
  bool leaves_ = false;
};

/// Brings one node as soon as something waits for one.
class OneNode : public engine::NodeProvider {
 public:
  explicit OneNode(Notes& notes) : notes_(&notes) {}

  void open(Site site) override { site_.emplace(std::move(site)); }

  void want(const engine::Demand& demand) override {
    if (demand.is_empty()) {
      notes_->push_back("nothing is wanted");
      return;
    }
    notes_->push_back("wanted: " + resources_text(demand.parts.front().request.each));
    site_->warn("the cloud is slow today");
    const auto address = *cluster::parse_endpoint("address", site_->join.address);
    cluster::connect(site_->loop, address.host, address.port, std::chrono::seconds(30),
                     wire::messages_of<cluster::ToAgent>,
                     [this](Result<std::shared_ptr<cluster::SecureChannel>> channel) {
                       // No BOOST_REQUIRE: it is not for two threads, and this is the loop's.
                       if (!channel) return notes_->push_back("not connected: " + channel.error().message);
                       agent_.emplace(std::move(*channel), *notes_);
                     });
  }
  /// Its agent ends by itself.
  void give_back(const std::string& node_id) override { notes_->push_back("given back: " + node_id); }
  bool joined(const node::NodeResources& node) override { return node.labels.contains("brought"); }
  void left(const std::string& node_id) override { notes_->push_back("left: " + node_id); }
  void close() override {
    notes_->push_back("closed");
    agent_.reset();
  }

 private:
  Notes* notes_;
  std::optional<Site> site_;
  std::optional<JoinedAgent> agent_;
};

RuntimeConfig config_with_nodes() {
  RuntimeConfig config;
  config.factory.command = {"/there/is/no/factory"};  // All workers are on the other node.
  config.num_cpus = 1;
  config.num_gpus = 0;
  config.join = cluster::JoinConfig{{"127.0.0.1", 0}, token, 3600};
  return config;
}

RunSpec spec_for(const Scratch& scratch) {
  RunSpec spec;
  spec.run = {"run", scratch.root};
  spec.trial_id = "trial";
  spec.scaling.num_workers = 1;
  spec.scaling.resources_per_worker = Resources{{"far", 1}};
  return spec;
}

/// Calls the run's hooks, as a front end does, until the run has ended.
void serve(Watch& watch, Run& run) {
  for (;;) {
    const auto snapshot = watch.next(std::chrono::seconds(60));
    BOOST_REQUIRE(snapshot != nullptr);
    if (snapshot->runs.empty()) continue;  // Taken before the run was there.
    const control::RunView& view = snapshot->runs.back()->view;
    if (is_over(view.state)) return;
    if (!view.wait) continue;
    if (view.wait->kind == control::WaitKind::setup) run.setup_finished(view.attempt, {});
    if (view.wait->kind == control::WaitKind::teardown) run.teardown_finished(view.attempt);
  }
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(node_provider_suite, Scratch)

BOOST_AUTO_TEST_CASE(a_run_that_waits_gets_a_node_trains_there_and_the_node_is_given_back) {
  if (!cluster::check_available()) return;
  Notes notes;
  const auto provider = [&notes] { return std::make_unique<OneNode>(notes); };
  {
    Runtime runtime(config_with_nodes(), engine_with(provider, {Duration(0), Duration(0)}));
    BOOST_REQUIRE(runtime.listen().has_value());
    const auto watch = runtime.watch();
    BOOST_REQUIRE(watch.has_value());
    const auto run = runtime.start_run({.spec = spec_for(*this), .task = std::make_shared<const std::string>("task")});
    BOOST_REQUIRE(run.has_value());
    serve(**watch, **run);
    // The node goes when nobody has anything there any more.
    std::shared_ptr<const Snapshot> last = (*watch)->latest();
    while (last && last->engine.nodes.size() > 1) last = (*watch)->next(std::chrono::seconds(60));
    BOOST_REQUIRE(last != nullptr);
    BOOST_TEST(last->runs.back()->view.failure.has_value() == false);
    runtime.shutdown();
  }
  BOOST_TEST(notes == (Notes{"wanted: {CPU: 1, far: 1}", "nothing is wanted", "worker started", "trained",
                             "given back: node-1", "dismissed", "left: node-1", "closed"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
