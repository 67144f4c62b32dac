#include "node/resource_ledger.hpp"

#include <boost/test/unit_test.hpp>

/// Who may have how much of a node, and which of its devices.
namespace headway::node {

namespace {

NodeResources node_of(Resources total, std::vector<std::string> gpus = {}) {
  NodeResources node;
  node.hostname = "host-a";
  node.total = std::move(total);
  if (!gpus.empty()) node.total["GPU"] = static_cast<double>(gpus.size());
  node.gpu_ids = std::move(gpus);
  return node;
}

WorkerClaim hard(Resources resources) { return {std::move(resources), 0}; }

using Gpus = std::vector<std::vector<std::string>>;

Gpus gpus_of(const std::optional<std::vector<Slot>>& slots) {
  BOOST_REQUIRE(slots.has_value());
  Gpus gpus;
  for (const Slot& slot : *slots) gpus.push_back(slot.gpu_ids);
  return gpus;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(resource_ledger_suite)

BOOST_AUTO_TEST_CASE(named_cpus_are_held_until_they_are_given_back) {
  ResourceLedger ledger(node_of({{"CPU", 4}}));
  const auto slots = ledger.claim(1, 2, hard({{"CPU", 2}}));
  BOOST_REQUIRE(slots.has_value());
  BOOST_TEST(slots->size() == 2U);
  BOOST_TEST((*slots)[0].cpus == 2);
  BOOST_TEST((*slots)[0].hostname == "host-a");
  BOOST_TEST(ledger.available().at("CPU") == 0.0);
  BOOST_TEST(!ledger.claim(2, 1, hard({{"CPU", 1}})).has_value());
  ledger.release(1);
  BOOST_TEST(ledger.available().at("CPU") == 4.0);
  BOOST_TEST(ledger.claim(2, 1, hard({{"CPU", 1}})).has_value());
}

BOOST_AUTO_TEST_CASE(implied_cpus_are_advice_and_never_refused) {
  ResourceLedger ledger(node_of({{"CPU", 2}}));
  BOOST_TEST(ledger.capacity_now(64, {{}, 1}) == 64);
  const auto slots = ledger.claim(1, 64, {{}, 1});
  BOOST_REQUIRE(slots.has_value());
  BOOST_TEST((*slots)[63].cpus == 1);
  BOOST_TEST(ledger.available().at("CPU") == 2.0);
}

BOOST_AUTO_TEST_CASE(workers_that_name_no_cpus_share_those_of_the_node_evenly) {
  ResourceLedger ledger(node_of({{"CPU", 8}}));
  const auto slots = ledger.claim(1, 3, {{}, 1});
  BOOST_REQUIRE(slots.has_value());
  BOOST_TEST((*slots)[0].cpus == 2);
}

BOOST_AUTO_TEST_CASE(a_claim_is_met_whole_or_not_at_all) {
  ResourceLedger ledger(node_of({{"CPU", 4}, {"tape", 1}}));
  BOOST_TEST(!ledger.claim(1, 2, hard({{"CPU", 1}, {"tape", 1}})).has_value());
  BOOST_TEST(ledger.available().at("CPU") == 4.0);
  BOOST_TEST(ledger.available().at("tape") == 1.0);
}

BOOST_AUTO_TEST_CASE(whole_gpus_go_to_one_worker_each_and_come_back) {
  ResourceLedger ledger(node_of({}, {"GPU-a", "GPU-b", "GPU-c"}));
  BOOST_TEST((gpus_of(ledger.claim(1, 2, hard({{"GPU", 1}}))) == Gpus{{"GPU-a"}, {"GPU-b"}}));
  BOOST_TEST((gpus_of(ledger.claim(2, 1, hard({{"GPU", 1}}))) == Gpus{{"GPU-c"}}));
  BOOST_TEST(!ledger.claim(3, 1, hard({{"GPU", 1}})).has_value());
  ledger.release(1);
  BOOST_TEST((gpus_of(ledger.claim(3, 1, hard({{"GPU", 2}}))) == Gpus{{"GPU-a", "GPU-b"}}));
}

BOOST_AUTO_TEST_CASE(fractions_share_a_gpu_and_never_straddle_two) {
  ResourceLedger ledger(node_of({}, {"0", "1"}));
  BOOST_TEST((gpus_of(ledger.claim(1, 2, hard({{"GPU", 0.6}}))) == Gpus{{"0"}, {"1"}}));
  BOOST_TEST(!ledger.claim(2, 1, hard({{"GPU", 0.5}})).has_value());
  BOOST_TEST((gpus_of(ledger.claim(2, 1, hard({{"GPU", 0.4}}))) == Gpus{{"0"}}));
}

BOOST_AUTO_TEST_CASE(three_thirds_are_one_gpu_and_give_back_a_whole_one) {
  ResourceLedger ledger(node_of({}, {"0"}));
  const double third = 1.0 / 3;
  for (int round = 0; round < 100; ++round) {
    for (const int holder : {1, 2, 3}) BOOST_TEST(ledger.claim(holder, 1, hard({{"GPU", third}})).has_value());
    BOOST_TEST(!ledger.claim(4, 1, hard({{"GPU", third}})).has_value());
    for (const int holder : {2, 3, 1}) ledger.release(holder);
  }
  BOOST_TEST(ledger.claim(1, 1, hard({{"GPU", 1}})).has_value());
}

BOOST_AUTO_TEST_CASE(a_whole_gpu_waits_while_every_device_is_partly_held) {
  ResourceLedger ledger(node_of({}, {"0", "1"}));
  for (const int holder : {1, 2, 3}) BOOST_TEST(ledger.claim(holder, 1, hard({{"GPU", 0.5}})).has_value());
  ledger.release(1);
  BOOST_TEST(ledger.available().at("GPU") == 1.0);
  BOOST_TEST(!ledger.claim(4, 1, hard({{"GPU", 1}})).has_value());
  ledger.release(2);
  BOOST_TEST((gpus_of(ledger.claim(4, 1, hard({{"GPU", 1}}))) == Gpus{{"0"}}));
}

BOOST_AUTO_TEST_CASE(names_of_the_users_own_are_counted_like_the_rest) {
  ResourceLedger ledger(node_of({{"CPU", 1}, {"licence", 2}}));
  BOOST_TEST(ledger.claim(1, 2, hard({{"licence", 1}})).has_value());
  BOOST_TEST(!ledger.claim(2, 1, hard({{"licence", 0.5}})).has_value());
  ledger.release(1);
  BOOST_TEST(ledger.claim(2, 1, hard({{"licence", 0.5}})).has_value());
}

BOOST_AUTO_TEST_CASE(capacity_counts_what_is_scarcest) {
  ResourceLedger ledger(node_of({{"CPU", 4}}, {"0"}));
  BOOST_TEST(ledger.capacity_now(3, hard({{"CPU", 1}, {"GPU", 1}})) == 1);
  BOOST_TEST(ledger.capacity_now(3, hard({{"tape", 0.1}})) == 0);
  BOOST_TEST(ledger.capacity_now(3, hard({{"tape", 0}})) == 3);
  BOOST_TEST(ledger.claim(1, 1, hard({{"CPU", 3}})).has_value());
  BOOST_TEST(ledger.capacity_now(9, hard({{"CPU", 1}})) == 1);
  BOOST_TEST(ledger.available().at("CPU") == 1.0);
}

BOOST_AUTO_TEST_CASE(fractions_that_do_not_fit_beside_each_other_are_no_capacity) {
  const ResourceLedger ledger(node_of({}, {"0", "1"}));
  BOOST_TEST(ledger.capacity_now(9, hard({{"GPU", 0.5}})) == 4);
  BOOST_TEST(ledger.capacity_now(9, hard({{"GPU", 0.6}})) == 2);
  BOOST_TEST(ledger.capacity_now(9, hard({{"GPU", 1.0 / 3}})) == 6);
}

BOOST_AUTO_TEST_CASE(what_there_is_capacity_for_is_also_granted) {
  for (const double amount : {0.1, 0.25, 1.0 / 3, 0.4, 0.5, 0.6, 1.0, 2.0, 3.0}) {
    for (int workers = 1; workers <= 40; ++workers) {
      ResourceLedger ledger(node_of({}, {"0", "1", "2", "3"}));
      const WorkerClaim claim = hard({{"GPU", amount}});
      const bool possible = ledger.capacity_now(workers, claim) == workers;
      BOOST_TEST(ledger.claim(1, workers, claim).has_value() == possible, workers << " with " << amount);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_would_be_free_is_known_without_a_release) {
  ResourceLedger ledger(node_of({{"CPU", 4}}, {"0", "1"}));
  for (const int holder : {1, 2, 3}) BOOST_TEST(ledger.claim(holder, 1, hard({{"CPU", 1}, {"GPU", 0.5}})).has_value());
  const Share others_gone = ledger.free_if_others_released(2);
  BOOST_TEST(others_gone.amounts.at("CPU") == 3.0);
  BOOST_TEST(ledger.capacity(others_gone, 9, hard({{"GPU", 0.5}})) == 3);
  const auto gone = ledger.free_if_released(3);
  BOOST_REQUIRE(gone.has_value());
  BOOST_TEST(gone->amounts.at("CPU") == 2.0);
  BOOST_TEST(ledger.capacity(*gone, 9, hard({{"GPU", 1}})) == 1);
  BOOST_TEST(!ledger.free_if_released(4).has_value());
  BOOST_TEST(ledger.capacity_now(9, hard({{"GPU", 0.5}})) == 1);
}

BOOST_AUTO_TEST_CASE(a_claim_of_tiny_parts_is_counted_at_once) {
  ResourceLedger ledger(node_of({{"licence", 1e6}}, {"0", "1"}));
  BOOST_TEST(ledger.capacity_now(2'000'000'000, hard({{"GPU", 1e-9}, {"licence", 1e-4}})) == 2'000'000'000);
  BOOST_TEST(ledger.capacity_now(2'000'000'000, hard({{"licence", 1}})) == 1'000'000);
}

BOOST_AUTO_TEST_CASE(giving_back_what_nobody_holds_changes_nothing) {
  ResourceLedger ledger(node_of({{"CPU", 4}}));
  BOOST_TEST(ledger.claim(1, 1, hard({{"CPU", 4}})).has_value());
  BOOST_TEST(!ledger.release(2));
  BOOST_TEST(ledger.available().at("CPU") == 0.0);
  BOOST_TEST(ledger.release(1));
  BOOST_TEST(!ledger.release(1));
  BOOST_TEST(ledger.available().at("CPU") == 4.0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::node
