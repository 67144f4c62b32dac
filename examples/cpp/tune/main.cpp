// Twenty logistic regressions with other learning rates and penalties: ASHA ends those that are not
// worth their steps. Nothing but Headway and the standard library.
//
//   example_tune [STORAGE]

#include <headway/train.hpp>
#include <headway/tune.hpp>

#include <array>
#include <cmath>
#include <iostream>
#include <random>
#include <vector>

namespace {

namespace tune = headway::tune;

/// A point of the plane, and whether it lies above the line y = 2x - 1 (some are wrong).
struct Point {
  double x = 0;
  double y = 0;
  double above = 0;
};

std::vector<Point> points(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> place(-2, 2);
  std::vector<Point> all(500);
  for (Point& point : all) {
    point.x = place(random);
    point.y = place(random);
    point.above = point.y + 0.2 * place(random) > 2 * point.x - 1 ? 1 : 0;
  }
  return all;
}

double probability(const std::array<double, 3>& weights, const Point& point) {
  return 1 / (1 + std::exp(-(weights[0] * point.x + weights[1] * point.y + weights[2])));
}

void train(const headway::Json& config) {
  const double rate = config.at("lr").as_double();
  const double penalty = config.at("model").at("penalty").as_double();
  const std::vector<Point> training = points(0);
  const std::vector<Point> held_out = points(1);
  std::array<double, 3> weights{};
  for (int step = 0; step < 27; ++step) {
    for (const Point& point : training) {
      const double error = probability(weights, point) - point.above;
      const std::array<double, 3> gradient{error * point.x, error * point.y, error};
      for (std::size_t i = 0; i < 3; ++i) weights[i] -= rate * (gradient[i] + penalty * weights[i]);
    }
    double loss = 0;
    for (const Point& point : held_out) {
      const double right = point.above > 0 ? probability(weights, point) : 1 - probability(weights, point);
      loss -= std::log(std::max(right, 1e-12)) / static_cast<double>(held_out.size());
    }
    headway::report({{"loss", loss}});
  }
}
HEADWAY_TRAIN_LOOP(train);

}  // namespace

int main(int argc, char** argv) {
  headway::Main guard(argc, argv);
  const tune::TunerOptions options{
      .space = {{"lr", tune::loguniform(1e-5, 1e1)}, {"model/penalty", tune::loguniform(1e-6, 1e-1)}},
      .tune = {.metric = "loss",
               .mode = "min",
               .num_samples = 20,
               .scheduler = tune::ASHAScheduler{.max_t = 27, .reduction_factor = 3}},
      .run = {.storage_path = argc > 1 ? argv[1] : ""}};
  const auto grid = tune::Tuner(train, options).fit();
  if (!grid) {
    std::cerr << grid.error().message << '\n';
    return 1;
  }
  std::int64_t steps = 0;
  for (const tune::TrialResult& trial : grid->trials) steps += trial.metrics.value_or("training_iteration", 0);
  const tune::TrialResult best = grid->get_best_result().value();
  std::cout << "The best configuration: " << best.config.dump() << "\nIts loss: " << best.metrics.at("loss").dump()
            << "\nSteps: " << steps << " of " << 27 * grid->trials.size() << ", the others were not worth it"
            << "\nThe experiment's folder: " << grid->path << '\n';
  return best.metrics.at("loss").as_double() < 0.2 ? 0 : 1;
}
