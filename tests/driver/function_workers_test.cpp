#include "driver/function_workers.hpp"

#include "engine/node_pool.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <map>

/// The function workers of a run on other nodes, from a rank's wish to their end.
namespace headway::driver {
namespace {

struct QuietAgent : node::NodeAgent {
  Result<void> warm(const std::vector<std::string>&) override { return {}; }
  Result<void> start_worker(const node::WorkerLaunch& launch, wire::Frame first) override {
    if (full) return Error{ErrorKind::unavailable, "no processes left"};
    started.push_back(launch.worker_id);
    firsts.push_back(std::move(first));
    return {};
  }
  void send(std::int64_t, wire::Frame) override {}
  void signal_worker(std::int64_t worker_id, int signal) override {
    if (signal == SIGKILL) killed.push_back(worker_id);
  }
  void resume_output() override {}
  void examine(std::int64_t, Examined) override {}

  bool full = false;
  std::vector<std::int64_t> started;
  std::vector<wire::Frame> firsts;
  std::vector<std::int64_t> killed;
};

struct Cluster {
  Cluster() {
    pool.on_spare_change([this] { changed = true; });
    spare.on_give_back([this] { changed = true; });
    add("gpu-1", 2, 1);
    add("gpu-2", 2, 1);
  }

  void add(const std::string& id, double cpus, int gpus = 0, Labels labels = {}) {
    auto made = std::make_unique<QuietAgent>();
    agents[id] = made.get();
    nodes.add(id, std::move(made));
    node::NodeResources resources{id, "host-" + id, "10.0.0.1", {{"CPU", cpus}}, {}, std::move(labels)};
    for (int gpu = 0; gpu < gpus; ++gpu) resources.gpu_ids.push_back(std::to_string(gpu));
    if (gpus > 0) resources.total["GPU"] = gpus;
    pool.add(std::move(resources));
    look();
  }

  /// What the runtime does a moment after each change.
  void look() {
    while (std::exchange(changed, false)) {
      workers.look();
      of_another_run.look();
    }
  }

  void want(const std::string& reader, std::optional<int> count, double cpus = 1, Labels labels = {},
            FunctionWorkers* whose = nullptr) {
    wire::StartSession start;
    start.run_name = "run";
    const std::size_t which = reader == "gpu-1" ? 0 : 1;
    (whose == nullptr ? workers : *whose)
        .want(slots[which], {4000, token, count, cpus, std::move(labels)}, slots, start, owner);
    look();
  }

  /// The worker is at work.
  void begin(const std::string& node_id, std::size_t which) {
    const std::int64_t id = agents.at(node_id)->started.at(which);
    BOOST_TEST(routes.find(id)->worker_message(id, wire::to_frame(wire::SessionReady{})).has_value());
  }

  void exit(const std::string& node_id, std::size_t which, const ExitStatus& status) {
    const std::int64_t id = agents.at(node_id)->started.at(which);
    if (const auto listener = routes.remove(id)) listener->worker_exited(id, status, "");
    look();
  }

  void claim(std::int64_t holder, const std::string& node_id, double cpus) {
    engine::Wanted wanted{1, 1, {{{"CPU", cpus}}, 0, {}}, engine::Placement::pack};
    wanted.node_id = node_id;
    pool.acquire(holder, wanted,
                 {[this](const Result<engine::Grant>& grant) { granted = grant.has_value(); }, nullptr});
    look();
  }

  std::size_t started(const std::string& node_id) { return agents.at(node_id)->started.size(); }
  std::size_t killed(const std::string& node_id) { return agents.at(node_id)->killed.size(); }

  boost::asio::io_context loop;
  Nodes nodes{loop};
  std::map<std::string, QuietAgent*> agents;
  engine::NodePool pool;
  WorkerRoutes routes;
  std::shared_ptr<int> owner = std::make_shared<int>(0);
  engine::SparePlaces spare;
  std::shared_ptr<FrontQueue> front = std::make_shared<FrontQueue>();
  std::vector<Slot> slots{{"gpu-1", "host-gpu-1", "10.0.0.7", 1, {"0"}}, {"gpu-2", "host-gpu-2", "10.0.0.8", 1, {"0"}}};
  FunctionWorkers workers{{&routes, &nodes, &pool, "", nullptr}, spare, {}, front};
  FunctionWorkers of_another_run{{&routes, &nodes, &pool, "", nullptr}, spare, {}, front};
  std::string token = "the token of a desk";  ///< Of the data process that wants workers.
  bool changed = false;
  bool granted = false;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(function_workers_suite, Cluster)

BOOST_AUTO_TEST_CASE(workers_start_on_nodes_without_ranks_and_know_where_the_data_process_listens) {
  add("cpu", 8);
  want("gpu-1", 2);
  BOOST_TEST(started("cpu") == 2);
  BOOST_TEST(started("gpu-2") == 0);
  const auto first =
      std::get<wire::StartSession>(wire::from_frame<wire::ToWorker>(agents.at("cpu")->firsts.front()).value());
  const auto role = std::get<wire::FunctionRole>(wire::to_role(first.role).value());
  BOOST_TEST(role.host == "10.0.0.7");
  BOOST_TEST(role.port == 4000);
  BOOST_TEST(role.token == "the token of a desk");
  BOOST_TEST(first.plan.slot.node_id == "cpu");
  BOOST_TEST(pool.idle_nodes().size() == 2);
}

BOOST_AUTO_TEST_CASE(a_machine_that_asks_first_leaves_the_other_its_part) {
  add("cpu", 5);
  want("gpu-1", 100);
  BOOST_TEST(started("cpu") == 3);
  want("gpu-2", 100);
  BOOST_TEST(started("cpu") == 5);
}

BOOST_AUTO_TEST_CASE(asking_again_for_as_many_starts_none) {
  add("cpu", 8);
  want("gpu-1", 2);
  want("gpu-1", 2);
  BOOST_TEST(started("cpu") == 2);
  want("gpu-1", 3);
  BOOST_TEST(started("cpu") == 3);
}

BOOST_AUTO_TEST_CASE(workers_wait_for_a_node_and_for_its_labels) {
  want("gpu-1", 2, 2, {{"kind", "cpu"}});
  add("other", 16);
  BOOST_TEST(started("other") == 0);
  add("cpu", 4, 0, {{"kind", "cpu"}});
  BOOST_TEST(started("cpu") == 1);  // The other half is the other machine's.
}

BOOST_AUTO_TEST_CASE(an_engine_is_asked_for_nodes_with_the_labels_that_the_user_named) {
  want("gpu-1", 2);
  BOOST_TEST(pool.demand().could_use.empty());
  want("gpu-1", 2, 3, {{"kind", "cpu"}});
  BOOST_REQUIRE_EQUAL(pool.demand().could_use.size(), 1);
  const engine::NodeRequest asked = pool.demand().could_use[0].request;
  BOOST_TEST(asked.workers_max == 2);
  BOOST_TEST((asked.each == Resources{{"CPU", 3}}));
  BOOST_TEST((asked.selectors == std::vector<Labels>{{{"kind", "cpu"}}}));
  add("one", 6, 0, {{"kind", "cpu"}});
  add("two", 6, 0, {{"kind", "cpu"}});
  BOOST_TEST(started("one") + started("two") == 2);
  BOOST_TEST(pool.demand().could_use.empty());
  want("gpu-1", 4, 3, {{"kind", "cpu"}});
  BOOST_TEST(pool.demand().could_use.size() == 1);
  workers.leave();
  BOOST_TEST(pool.demand().could_use.empty());
}

BOOST_AUTO_TEST_CASE(one_node_is_asked_for_where_the_user_has_given_no_number) {
  want("gpu-1", std::nullopt, 1, {{"kind", "cpu"}});
  BOOST_TEST(pool.demand().could_use.at(0).request.workers_max == 1);
  add("cpu", 2, 0, {{"kind", "cpu"}});
  BOOST_TEST(started("cpu") == 1);
  BOOST_TEST(pool.demand().could_use.empty());
}

BOOST_AUTO_TEST_CASE(workers_make_way_for_whoever_claims_their_cpus_and_come_back) {
  add("cpu", 4);
  want("gpu-1", 2);
  claim(1, "cpu", 2);
  BOOST_TEST(granted);
  BOOST_TEST(killed("cpu") == 0);
  claim(2, "cpu", 1);
  BOOST_TEST(granted);
  BOOST_TEST(killed("cpu") == 1);
  BOOST_TEST(agents.at("cpu")->killed.front() == agents.at("cpu")->started.back());
  exit("cpu", 1, {true, SIGKILL, ""});
  BOOST_TEST(started("cpu") == 2);
  pool.release(1);
  look();
  BOOST_TEST(started("cpu") == 3);
}

BOOST_AUTO_TEST_CASE(one_that_is_needed_no_more_is_not_replaced_and_one_that_dies_is_as_often_as_there_were) {
  add("cpu", 8);
  want("gpu-1", 2);
  exit("cpu", 0, {false, 0, ""});
  BOOST_TEST(started("cpu") == 2);
  exit("cpu", 1, {true, SIGSEGV, ""});
  exit("cpu", 2, {false, 1, ""});
  BOOST_TEST(started("cpu") == 4);
  exit("cpu", 3, {false, 1, ""});
  BOOST_TEST(started("cpu") == 4);
}

BOOST_AUTO_TEST_CASE(one_that_was_at_work_when_workers_were_wanted_again_is_replaced_once) {
  add("cpu", 8);
  want("gpu-1", 2);
  begin("cpu", 0);
  want("gpu-1", 2);
  BOOST_TEST(started("cpu") == 2);
  // What it was started for has ended; the other one came for both.
  exit("cpu", 0, {false, 0, ""});
  BOOST_TEST(started("cpu") == 3);
  exit("cpu", 1, {false, 0, ""});
  exit("cpu", 2, {false, 0, ""});
  BOOST_TEST(started("cpu") == 3);
}

BOOST_AUTO_TEST_CASE(a_new_data_process_does_not_wait_for_the_workers_of_the_one_before) {
  add("cpu", 8);
  want("gpu-1", 2);
  token = "the token of another desk";
  want("gpu-1", 2);
  BOOST_TEST(started("cpu") == 4);
  exit("cpu", 0, {false, 1, ""});
  exit("cpu", 1, {true, SIGKILL, ""});
  BOOST_TEST(started("cpu") == 4);
}

BOOST_AUTO_TEST_CASE(of_any_number_of_workers_that_die_at_once_no_more_are_started_than_there_is_room_for) {
  add("cpu", 8);
  want("gpu-1", std::nullopt);
  BOOST_TEST(started("cpu") == 4);  // The other half is the other machine's.
  for (std::size_t which = 0; which < started("cpu"); ++which) exit("cpu", which, {false, 1, ""});
  BOOST_TEST(started("cpu") == 8);
  bool was_full = false;
  std::size_t warnings = 0;
  for (const FrontEvent& event : front->take(was_full)) warnings += std::holds_alternative<RunWarning>(event) ? 1 : 0;
  BOOST_TEST(warnings == 1);
  want("gpu-1", std::nullopt);
  BOOST_TEST(started("cpu") == 12);
}

BOOST_AUTO_TEST_CASE(what_one_run_needs_no_more_another_one_uses) {
  add("cpu", 2);
  want("gpu-1", 1);
  want("gpu-2", 1);
  want("gpu-1", 1, 1, {}, &of_another_run);
  BOOST_TEST(started("cpu") == 2);
  exit("cpu", 0, {false, 0, ""});
  BOOST_TEST(started("cpu") == 3);
}

BOOST_AUTO_TEST_CASE(workers_that_cannot_be_started_are_not_tried_without_end) {
  add("cpu", 8);
  agents.at("cpu")->full = true;
  want("gpu-1", 2);
  BOOST_TEST(started("cpu") == 0);
  agents.at("cpu")->full = false;
  claim(1, "gpu-2", 1);
  BOOST_TEST(started("cpu") == 0);
}

BOOST_AUTO_TEST_CASE(a_node_that_is_drained_or_lost_is_left_for_another_one) {
  add("cpu", 2);
  add("other", 1);
  want("gpu-1", 1);
  BOOST_TEST(started("cpu") == 1);
  pool.drain("cpu");
  look();
  BOOST_TEST(killed("cpu") == 1);
  BOOST_TEST(started("other") == 1);
  add("third", 2);
  pool.remove("other");
  look();
  BOOST_TEST(started("third") == 1);
}

BOOST_AUTO_TEST_CASE(the_workers_of_a_node_whose_rank_is_gone_end_and_so_do_all_with_the_group) {
  add("cpu", 8);
  want("gpu-1", 2);
  want("gpu-2", 2);
  workers.forget("gpu-1");
  BOOST_TEST(killed("cpu") == 2);
  workers.leave();
  BOOST_TEST(killed("cpu") == 4);
  for (std::size_t which = 0; which < 4; ++which) exit("cpu", which, {true, SIGKILL, ""});
  BOOST_TEST(started("cpu") == 4);
  BOOST_TEST(pool.idle_nodes().size() == 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
