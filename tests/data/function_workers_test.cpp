#include "data/function_workers.hpp"

#include <boost/test/unit_test.hpp>

namespace headway::data {
namespace {

Node function(std::optional<std::vector<int>> workers, double cpus = 1, double gpus = 0) {
  FunctionNode made;
  made.workers = std::move(workers);
  made.num_cpus = cpus;
  made.num_gpus = gpus;
  return {made, {0}};
}

Plan plan_of(std::vector<Node> functions) {
  Plan plan;
  plan.nodes.push_back({RangeNode{10, std::nullopt}, {}});
  for (Node& each : functions) plan.nodes.push_back(std::move(each));
  return plan;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(function_workers)

BOOST_AUTO_TEST_CASE(workers_for_which_the_machine_has_cores_are_not_wanted_elsewhere) {
  BOOST_TEST(workers_elsewhere(plan_of({function(std::nullopt), function({{1, 4}})}), 4, false).workers.value() == 0);
}

BOOST_AUTO_TEST_CASE(what_goes_beyond_the_machine_s_cores_is_wanted_elsewhere_for_each_function) {
  const WantedWorkers wanted = workers_elsewhere(plan_of({function({{8, 8}}, 2), function({{1, 6}}, 0.5)}), 4, false);
  BOOST_TEST(wanted.workers.value() == 4 + 2);
  BOOST_TEST(wanted.cpus == 2);
}

BOOST_AUTO_TEST_CASE(all_workers_are_wanted_elsewhere_where_other_nodes_come_first) {
  BOOST_TEST(workers_elsewhere(plan_of({function({{2, 3}})}), 8, true).workers.value() == 3);
  BOOST_TEST(!workers_elsewhere(plan_of({function(std::nullopt), function({{2, 3}})}), 8, true).workers);
}

BOOST_AUTO_TEST_CASE(any_number_of_workers_that_use_no_cpu_is_one_for_each_cpu) {
  BOOST_TEST(workers_elsewhere(plan_of({function(std::nullopt, 0)}), 8, true).cpus == 1);
  BOOST_TEST(workers_elsewhere(plan_of({function(std::nullopt, 0.5)}), 8, true).cpus == 0.5);
  BOOST_TEST(workers_elsewhere(plan_of({function({{2, 3}}, 0)}), 8, true).cpus == 0);
}

BOOST_AUTO_TEST_CASE(functions_with_gpus_stay_with_the_machine_s_gpus) {
  BOOST_TEST(workers_elsewhere(plan_of({function({{8, 8}}, 1, 1)}), 1, true).workers.value() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::data
