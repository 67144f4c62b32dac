#include "control/validation_flow.hpp"

#include "control/pieces.hpp"

/// Validations from their start to their outcome, without a controller.
namespace headway::control {
namespace {

ValidationSpec limited(std::optional<double> timeout_s, int max_retries = 0) {
  ValidationSpec config;
  config.has_function = true;
  config.timeout_s = timeout_s;
  config.max_retries = max_retries;
  return config;
}

struct Flow {
  explicit Flow(ValidationSpec config) : validations(std::move(config)) { out.begin(Time{}); }

  /// Adds a checkpoint and starts its process.
  std::int64_t start(const std::string& checkpoint) {
    BOOST_TEST(!validations.add(checkpoint, 0, {}, out));
    validations.start(out);
    const auto started = taken<StartValidation>(out);
    BOOST_REQUIRE(started.size() == 1U);
    return started[0].number;
  }
  /// Its function is called; the timer that limits it.
  std::optional<std::int64_t> call(std::int64_t number) {
    validations.on(ValidationStarted{number}, out);
    const auto set = taken<SetTimer>(out);
    return set.empty() ? std::nullopt : std::optional(set[0].timer);
  }

  Outbox out;
  ValidationFlow validations;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(validation_flow_suite)

BOOST_AUTO_TEST_CASE(a_validation_that_finishes_gives_its_metrics_and_its_process_is_ended) {
  Flow run(limited(std::nullopt));
  const std::int64_t number = run.start("c0");
  BOOST_TEST(!run.call(number));
  const auto outcome = run.validations.on(ValidationFinished{number, {{"accuracy", 0.5}}}, run.out);
  BOOST_REQUIRE(outcome);
  BOOST_TEST(outcome->checkpoint == "c0");
  BOOST_TEST((outcome->status == CheckpointStatus::VALIDATED));
  BOOST_TEST(outcome->metrics.at("accuracy").as_double() == 0.5);
  const auto ended = taken<EndValidation>(run.out);
  BOOST_REQUIRE(ended.size() == 1U);
  BOOST_TEST((ended[0].mode == EndMode::graceful));
  BOOST_TEST(!run.validations.on(ValidationExited{number, {}, ""}, run.out));
  BOOST_TEST(run.validations.queue().idle());
}

BOOST_AUTO_TEST_CASE(metrics_within_metrics_are_told_by_their_names) {
  Flow run(limited(std::nullopt));
  const std::int64_t number = run.start("c0");
  const JsonObject metrics{{"loss", 0.5}, {"mean", JsonObject{{"a", 1}}}, {"counts", JsonArray{1, 2}}};
  run.validations.on(ValidationFinished{number, metrics}, run.out);
  const auto told = taken<Notify>(run.out);
  BOOST_REQUIRE(told.size() == 1U);
  BOOST_TEST(told[0].text == "c0 is validated after 0.0 s: loss=0.5, mean={...}, counts=[...]");
}

BOOST_AUTO_TEST_CASE(a_process_that_does_not_exit_is_killed) {
  Flow run(limited(std::nullopt));
  const std::int64_t number = run.start("c0");
  run.call(number);
  run.validations.on(ValidationFinished{number, {}}, run.out);
  run.out.take();
  BOOST_TEST(!run.validations.time_is_over(number, run.out));
  BOOST_TEST((taken<EndValidation>(run.out).at(0).mode == EndMode::kill));
}

BOOST_AUTO_TEST_CASE(one_that_takes_too_long_is_killed_and_has_timed_out) {
  Flow run(limited(5.0));
  const std::int64_t number = run.start("c0");
  const auto timer = run.call(number);
  BOOST_REQUIRE(timer);
  BOOST_TEST((run.out.fired(*timer) == Timer{TimerPurpose::validation, number}));
  const auto outcome = run.validations.time_is_over(number, run.out);
  BOOST_REQUIRE(outcome);
  BOOST_TEST((outcome->status == CheckpointStatus::VALIDATION_TIMEOUT));
  BOOST_TEST((taken<EndValidation>(run.out).at(0).mode == EndMode::kill));
}

BOOST_AUTO_TEST_CASE(a_limit_that_was_kept_fires_for_nobody) {
  Flow run(limited(5.0));
  const std::int64_t number = run.start("c0");
  const auto timer = run.call(number);
  run.validations.on(ValidationFailed{number, {"ValueError", "no data", "", false}}, run.out);
  BOOST_TEST(!run.out.fired(*timer));
}

BOOST_AUTO_TEST_CASE(a_process_that_dies_is_begun_again_and_then_has_failed) {
  Flow run(limited(std::nullopt, 1));
  const std::int64_t first = run.start("c0");
  BOOST_TEST(!run.validations.on(ValidationExited{first, {true, 9, ""}, ""}, run.out));
  run.validations.start(run.out);
  const std::int64_t second = taken<StartValidation>(run.out).at(0).number;
  const auto outcome = run.validations.on(ValidationExited{second, {true, 9, ""}, ""}, run.out);
  BOOST_REQUIRE(outcome);
  BOOST_TEST((outcome->status == CheckpointStatus::VALIDATION_FAILED));
}

BOOST_AUTO_TEST_CASE(without_a_function_the_outcome_is_there_at_once) {
  Flow run(ValidationSpec{});
  const auto outcome = run.validations.add("c0", 3, {}, run.out);
  BOOST_REQUIRE(outcome);
  BOOST_TEST(outcome->report == 3);
  BOOST_TEST(taken<Warn>(run.out).size() == 1U);
}

BOOST_AUTO_TEST_CASE(after_the_stop_no_outcome_counts) {
  Flow run(limited(5.0));
  const std::int64_t number = run.start("c0");
  const auto timer = run.call(number);
  run.validations.stop("the run ends", run.out);
  BOOST_TEST((taken<EndValidation>(run.out).at(0).mode == EndMode::kill));
  BOOST_TEST(!run.out.fired(*timer));
  BOOST_TEST(!run.validations.on(ValidationFinished{number, {}}, run.out));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
