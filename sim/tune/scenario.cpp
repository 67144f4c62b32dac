#include "sim/tune/scenario.hpp"

#include <array>

namespace headway::control::tune::sim {
namespace {

using namespace std::chrono_literals;

constexpr int score_max = 6;

JsonObject pbt_of(Random& random) {
  constexpr std::array fractions = {0.0, 0.25, 0.5};
  return {{"kind", "pbt"},
          {"time_attr", "training_iteration"},
          {"perturbation_interval", 1 + random.below(4)},
          {"burn_in_period", random.below(4)},
          {"quantile_fraction", fractions.at(static_cast<std::size_t>(random.below(3)))},
          {"synch", random.one_in(3)}};
}

JsonObject replay_of(Random& random) {
  const int first = 1 + random.below(3);
  return {{"kind", "pbt_replay"}, {"changes", {first, first + random.below(3)}}};
}

JsonObject scheduler_of(Random& random) {
  switch (random.below(9)) {
    case 0: return random.one_in(3) ? replay_of(random) : JsonObject{{"kind", "fifo"}};
    case 6:
    case 7:
    case 8: return pbt_of(random);
    case 1:
      return {{"kind", "median"},
              {"time_attr", "training_iteration"},
              {"grace_period", 1},
              {"min_samples_required", 2},
              {"hard_stop", random.one_in(2)}};
    case 2:
    case 3:
      return {{"kind", "hyperband"},
              {"max_t", 1 + random.below(9)},
              {"reduction_factor", 2 + random.below(2)},
              {"stop_last_trials", !random.one_in(4)},
              {"bohb", random.one_in(3)}};
    default: break;
  }
  const bool by_two = random.one_in(2);
  return {{"kind", "asha"},
          {"reduction_factor", by_two ? 2 : 4},
          {"max_t", by_two ? 8 : 4},
          {"stop_last_trials", !random.one_in(4)},
          {"promote", random.one_in(3)}};
}

Course course_of(Random& random) {
  Course course;
  const int steps = 1 + random.below(10);
  for (int i = 0; i < steps; ++i) course.scores.push_back(random.below(score_max + 1));
  course.checkpoint_every = random.below(3);
  if (random.one_in(12)) course.raises_at = random.below(steps);
  course.step_time = random.one_in(10) ? random.between(10s, 60s) : random.between(1ms, 2s);
  return course;
}

}  // namespace

Scenario scenario_of(Random& random) {
  Scenario scenario;
  ExperimentSpec& spec = scenario.spec;
  spec.path = "/experiment";
  spec.metric = "score";
  spec.mode = random.one_in(2) ? "max" : "min";
  spec.scheduler = scheduler_of(random);
  if (random.one_in(3)) spec.max_concurrent = 1 + random.below(4);
  if (random.one_in(2)) spec.prepares = random.below(5);
  if (random.one_in(4)) spec.stop = {{"score", score_max}};
  if (random.one_in(8)) spec.time_budget_s = 1 + random.below(20);
  spec.asks = random.one_in(4);
  const boost::json::string& kind = spec.scheduler.at("kind").as_string();
  if (kind == "fifo" || kind == "median") {
    spec.overrules = random.one_in(2);
    spec.chooses = random.one_in(2);
  }
  spec.fail_fast = random.one_in(6);
  spec.restore.unfinished = true;
  const int trials = 1 + random.below(12);
  for (int i = 0; i < trials; ++i) scenario.courses.push_back(course_of(random));
  scenario.slots = 1 + random.below(6);
  for (int kills = random.below(4); kills > 0; --kills) scenario.kills.push_back(random.between(0s, 8s));
  if (random.one_in(5)) scenario.stop_after = random.between(0s, 6s);
  if (random.one_in(4)) scenario.limit = 1 + random.below(3);
  scenario.returns_early = random.one_in(2);
  return scenario;
}

}  // namespace headway::control::tune::sim
