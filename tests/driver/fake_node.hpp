#pragma once

#include "driver/run.hpp"
#include "driver/runtime.hpp"
#include "engine/node_pool.hpp"
#include "storage/scratch.hpp"
#include "wire/session_messages.hpp"

#include <boost/test/unit_test.hpp>

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <poll.h>
#include <string>
#include <vector>

namespace headway::driver {

/// A node on which nothing runs. A test hears in order what the driver asks of it, and says what
/// happens there, in the order that it wants. Used by the test's thread; the agent itself is the
/// loop's.
class FakeNode {
 public:
  /// Something that was asked, as "start 1", "tell 1 Train", "signal 1 9" or "end".
  std::string next() {
    std::unique_lock lock(state_->mutex);
    if (!state_->changed.wait_for(lock, patience, [&] { return !state_->asked.empty(); })) return "nothing";
    std::string asked = std::move(state_->asked.front());
    state_->asked.pop_front();
    return asked;
  }

  /// Leaves out what comes before; fails the test when it does not come.
  void await(const std::string& wanted) {
    for (std::string asked = next(); asked != wanted; asked = next()) {
      if (asked == "nothing") BOOST_FAIL("the driver never asked to " + wanted);
    }
  }

  /// Whether nothing was asked that was not heard yet.
  bool asked_for_nothing() {
    const std::lock_guard lock(state_->mutex);
    return state_->asked.empty();
  }

  /// A worker says it.
  template <class M>
  void say(std::int64_t worker_id, const M& message) {
    state_->on_loop(
        [worker_id, message](node::AgentSink& sink) { (void)sink.worker_message(worker_id, wire::to_frame(message)); });
  }
  void exit(std::int64_t worker_id, ExitStatus status = {false, 0, ""}) {
    state_->on_loop([worker_id, status](node::AgentSink& sink) { sink.worker_exited(worker_id, status, ""); });
  }
  void notice(const std::string& text) {
    state_->on_loop([text](node::AgentSink& sink) { sink.notice(text); });
  }

  /// From now on the end of the agent takes until this is called again.
  void hold_end(bool held) {
    const std::lock_guard lock(state_->mutex);
    state_->end_held = held;
    state_->changed.notify_all();
  }
  /// What `start_worker` answers with from now on.
  void refuse(std::optional<Error> error) {
    const std::lock_guard lock(state_->mutex);
    state_->refusal = std::move(error);
  }

  /// An engine of this node alone, with four CPUs.
  EngineFactory engine() {
    return [state = state_](boost::asio::io_context& loop, const RuntimeConfig&, node::AgentSink& sink) {
      state->loop = &loop;
      state->sink = &sink;
      node::NodeResources here;
      here.node_id = "fake";
      here.hostname = "host-f";
      here.node_ip = "127.0.0.1";
      here.total = {{"CPU", 4}};
      EngineParts parts{std::make_unique<engine::NodePool>(false), here.node_id, std::make_unique<Agent>(state)};
      parts.engine->add(std::move(here));
      return parts;
    };
  }

 private:
  static constexpr auto patience = std::chrono::seconds(20);

  struct State {
    void note(std::string asked_for) {
      const std::lock_guard lock(mutex);
      asked.push_back(std::move(asked_for));
      changed.notify_all();
    }
    void on_loop(std::function<void(node::AgentSink&)> work) {
      boost::asio::post(*loop, [sink = sink, work = std::move(work)] { work(*sink); });
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::string> asked;
    bool end_held = false;
    std::optional<Error> refusal;
    boost::asio::io_context* loop = nullptr;
    node::AgentSink* sink = nullptr;
  };

  class Agent : public node::NodeAgent {
   public:
    explicit Agent(std::shared_ptr<State> state) : state_(std::move(state)) {}
    ~Agent() override {
      state_->note("end");
      std::unique_lock lock(state_->mutex);
      state_->changed.wait(lock, [this] { return !state_->end_held; });
    }

    Result<void> warm(const std::vector<std::string>&) override { return {}; }
    Result<void> start_worker(const node::WorkerLaunch& launch, wire::Frame) override {
      // At once: whoever has heard of it may ask for another answer to the next one.
      const std::lock_guard lock(state_->mutex);
      state_->asked.push_back("start " + std::to_string(launch.worker_id));
      state_->changed.notify_all();
      if (state_->refusal) return *state_->refusal;
      return {};
    }
    void send(std::int64_t worker_id, wire::Frame frame) override {
      const auto name = [](const auto& message) { return std::string(std::decay_t<decltype(message)>::is); };
      const wire::ToWorker message = wire::from_frame<wire::ToWorker>(frame).value();
      state_->note("tell " + std::to_string(worker_id) + " " + std::visit(name, message));
    }
    void signal_worker(std::int64_t worker_id, int signal) override {
      state_->note("signal " + std::to_string(worker_id) + " " + std::to_string(signal));
    }
    void resume_output() override {}
    void examine(std::int64_t, Examined done) override {
      boost::asio::post(*state_->loop, [done = std::move(done)] { done({"idle\n"}); });
    }

   private:
    std::shared_ptr<State> state_;
  };

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// A runtime whose one node is a FakeNode, with a folder for its runs.
struct OnFakeNode : storage::Scratch {
  OnFakeNode() { runtime = std::make_unique<Runtime>(RuntimeConfig{}, node.engine()); }

  RunSpec spec(int workers, int max_failures = 0) const {
    RunSpec made;
    made.run = {"run", root};
    made.scaling.num_workers = workers;
    made.failure.max_failures = max_failures;
    made.trial_id = "t0000";
    return made;
  }
  std::shared_ptr<Run> start(RunSpec made) const {
    return storage::must(runtime->start_run(
        {.spec = std::move(made), .task = std::make_shared<const std::string>("the training function")}));
  }

  /// The next event of this kind; those before it are left out.
  template <class E>
  E event(Run& run) {
    std::deque<FrontEvent>& events = events_[&run];
    for (;;) {
      while (!events.empty()) {
        FrontEvent first = std::move(events.front());
        events.pop_front();
        if (auto* found = std::get_if<E>(&first)) return std::move(*found);
      }
      pollfd more{run.event_fd(), POLLIN, 0};
      if (::poll(&more, 1, 20'000) != 1) BOOST_FAIL("an event did not come");
      for (FrontEvent& each : run.take_events()) events.push_back(std::move(each));
    }
  }
  control::RunOutcome outcome(Run& run) { return event<Finished>(run).outcome; }

  /// Up to the training of all ranks, whose workers are `first` and those after.
  void to_training(Run& run, int attempt, std::int64_t first, int workers) {
    for (std::int64_t id = first; id < first + workers; ++id) node.await("start " + std::to_string(id));
    for (std::int64_t id = first; id < first + workers; ++id) node.say(id, wire::SessionReady{100 + id});
    event<SetupAsked>(run);
    run.setup_finished(attempt, std::nullopt);
    for (std::int64_t id = first; id < first + workers; ++id) node.await("tell " + std::to_string(id) + " Train");
  }
  /// All ranks return, and their processes end.
  void to_the_end(Run& run, int attempt, std::int64_t first, int workers) {
    for (std::int64_t id = first; id < first + workers; ++id) node.say(id, wire::TrainingReturned{});
    event<TeardownAsked>(run);
    run.teardown_finished(attempt);
    for (std::int64_t id = first; id < first + workers; ++id) {
      node.await("tell " + std::to_string(id) + " EndSession");
      node.exit(id);
    }
  }

  FakeNode node;
  std::unique_ptr<Runtime> runtime;

 private:
  std::map<Run*, std::deque<FrontEvent>> events_;
};

}  // namespace headway::driver
