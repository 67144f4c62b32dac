#include "sim/scenario.hpp"

#include "core/preemption.hpp"

namespace headway::sim {

std::optional<CheckpointOffer> Scenario::offer(int rank, std::int64_t step) const {
  if (!has_checkpoint(step) || (writers == Writers::first_rank && rank != 0)) return std::nullopt;
  CheckpointOffer offer;
  offer.source = source;
  // Spread over the steps without asking chance again: a restart makes the same offers.
  offer.asynchronous = asynchronous_one_in > 0 && (step * 7 + 3) % asynchronous_one_in == 0;
  if (source == CheckpointSource::placed) {
    offer.directory_name = names == Names::always_the_same ? "placed" : "placed_" + std::to_string(step);
    if (ranks_disagree && rank > 0) offer.directory_name = "elsewhere";
    if (some_upload && rank > 0) {
      offer.source = CheckpointSource::files;
      offer.files.push_back({"shard_" + std::to_string(rank), 1, "xxh3:0000000000000001", rank});
    }
    return offer;
  }
  if (rank == 0) offer.directory_name = directory_name(step);
  if (source == CheckpointSource::files) {
    const std::string file = writers == Writers::all_ranks_own_files ? "shard_" + std::to_string(rank) : "model";
    offer.files.push_back({file, 1, "xxh3:0000000000000001", rank});
    if (ranks_disagree && rank > 0) {
      offer.files.clear();
      offer.source = CheckpointSource::function;
    }
  }
  return offer;
}

std::optional<std::string> Scenario::directory_name(std::int64_t step) const {
  switch (names) {
    case Names::automatic: break;
    case Names::by_step: return "step_" + std::to_string(step);
    case Names::always_the_same: return "last";
    case Names::like_automatic_ones:
      // Every third one is named by the user, as an automatic one might be some day.
      if (step % 3 == 0) return "checkpoint_00000" + std::to_string(step % 10);
      break;
  }
  return std::nullopt;
}

std::string Scenario::stored_name(int rank, const std::string& name) const {
  if (ranks_disagree && rank > 0) return "also_" + name;
  return names == Names::automatic ? name : "stored_" + name;
}

JsonObject Scenario::metrics(std::int64_t step) const {
  JsonObject metrics{{"step", step}};
  if (scored) metrics["score"] = static_cast<double>((step * 5 + 2) % 7);
  return metrics;
}

std::optional<ValidationTask> Scenario::validation(std::int64_t step) const {
  if (validate_every == 0 || !has_checkpoint(step) || step % validate_every != 0) return std::nullopt;
  return ValidationTask{};
}

std::optional<control::CollectiveCall> Scenario::gathering(std::int64_t step) const {
  if (gather_every == 0 || step % gather_every != 0) return std::nullopt;
  if (step % 3 == 0) return control::CollectiveCall{"preemption_info", 0};
  if (step % 2 == 0) return control::CollectiveCall{"barrier", 0};
  return control::CollectiveCall{"broadcast", static_cast<int>(step % spec.scaling.num_workers)};
}

JsonObject Scenario::validated(std::int64_t step) const {
  JsonObject metrics{{"checked", step}};
  if (step % 3 != 0) metrics["score"] = static_cast<double>((step * 3 + 1) % 11);
  return metrics;
}

Scenario make_scenario(Random& random) {
  Scenario scenario;
  RunSpec& spec = scenario.spec;
  spec.run = {"run", "/storage"};
  spec.scaling.num_workers = 1 + random.below(4);
  spec.failure.max_failures = random.one_of(std::vector<int>{0, 1, 2, 3, 10, -1, -1});
  if (random.one_in(3)) {
    spec.scaling.min_workers = 1 + random.below(spec.scaling.num_workers);
    spec.scaling.elastic_resize_monitor_interval_s = random.one_of(std::vector<double>{0, 0.2, 2});
  }
  spec.failure.controller_failure_limit = random.one_of(std::vector<int>{0, 1, 3, -1});
  spec.failure.max_preemption_failures = random.one_of(std::vector<int>{0, 1, -1, -1});
  if (random.one_in(2)) spec.failure.preemption_grace_s = 1 + random.below(5);
  if (random.one_in(2)) spec.checkpoint.num_to_keep = 1 + random.below(3);
  if (random.one_in(2)) spec.checkpoint.checkpoint_score_attribute = "score";
  if (random.one_in(3)) spec.checkpoint.checkpoint_score_order = "min";
  if (random.one_in(6)) spec.resume_from_checkpoint = "/elsewhere/checkpoint";
  spec.trial_id = "trial";
  spec.sync = {5, 60, random.one_in(3), random.one_in(2)};
  if (random.one_in(4)) spec.run.storage_path = "s3://bucket/runs";
  if (random.one_in(2)) spec.failure.hang_fail_s = 45;
  if (random.one_in(2)) spec.callback_lag_max = random.below(3);
  if (random.one_in(6)) spec.stop = {{"training_iteration", 1.0 + random.below(9)}};
  scenario.steps = random.below(9);
  scenario.checkpoint_every = random.below(4);
  scenario.asynchronous_one_in = random.below(3);
  scenario.writers = static_cast<Scenario::Writers>(random.below(3));
  scenario.names = random.one_in(2) ? Scenario::Names::automatic : static_cast<Scenario::Names>(random.below(4));
  scenario.catches = random.one_in(2);
  scenario.scored = !random.one_in(4);
  scenario.nodes = 1 + random.below(2);
  if (random.one_in(4)) scenario.source = random.one_in(2) ? CheckpointSource::placed : CheckpointSource::function;
  scenario.ranks_disagree = random.one_in(20);
  if (random.one_in(2)) scenario.validate_every = 1 + random.below(2);
  spec.validation.has_function = !random.one_in(8);
  spec.validation.max_concurrent = 1 + random.below(3);
  if (random.one_in(3)) spec.validation.order = "newest";
  spec.validation.max_retries = random.below(3);
  if (random.one_in(2)) spec.validation.timeout_s = 5;
  scenario.asks = random.one_in(4);
  if (random.one_in(2)) scenario.gather_every = 1 + random.below(3);
  if (random.one_in(3)) spec.checkpoint.on_upload_failure = "warn";
  scenario.some_upload = scenario.source == CheckpointSource::placed && random.one_in(2);
  if (scenario.names != Scenario::Names::automatic || scenario.ranks_disagree) {
    // What is refused once (for example a name that is taken) is refused in every attempt: without
    // a limit that never ends.
    if (spec.failure.max_failures == -1) spec.failure.max_failures = 10;
    if (random.one_in(2)) scenario.catches = true;
  }
  return scenario;
}

}  // namespace headway::sim
