// A logistic regression on two workers, with nothing but Headway and the standard library: each
// rank has a share of the points, and gradients are added up by an allgather that is made of
// broadcasts.
//
//   example_plain [STORAGE]

#include <headway/train.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <iostream>
#include <random>
#include <string>
#include <vector>

namespace {

/// A point of the plane, and whether it lies above the line y = 2x - 1 (more or less: some are
/// wrong).
struct Point {
  double x = 0;
  double y = 0;
  double above = 0;
};

/// Two weights and a bias, or the gradient of a loss by them, or both with a sum of losses at the
/// end.
using Numbers = std::array<double, 4>;

constexpr int points_in_all = 2000;

/// The points of this rank: every `world_size`-th one, the same whatever the number of ranks.
std::vector<Point> my_points() {
  const headway::Context& me = headway::context();
  std::mt19937 random(0);
  std::uniform_real_distribution<double> place(-2, 2);
  std::vector<Point> mine;
  for (int i = 0; i < points_in_all; ++i) {
    const double x = place(random);
    const double y = place(random);
    const double noise = 0.2 * place(random);
    if (i % me.world_size == me.world_rank) mine.push_back({x, y, y + noise > 2 * x - 1 ? 1.0 : 0.0});
  }
  return mine;
}

/// The sum over all ranks, the same in each of them to the last bit: everyone adds in the order of
/// ranks.
Numbers sum_over_ranks(const Numbers& mine) {
  Numbers sum{};
  for (int rank = 0; rank < headway::context().world_size; ++rank) {
    const std::string bytes =
        headway::broadcast(std::string(reinterpret_cast<const char*>(mine.data()), sizeof(mine)), rank);
    Numbers theirs{};
    std::memcpy(theirs.data(), bytes.data(), sizeof(theirs));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += theirs[i];
  }
  return sum;
}

/// Gradient and loss, summed over this rank's points.
Numbers gradient_and_loss(const Numbers& weights, const std::vector<Point>& points) {
  Numbers sum{};
  for (const Point& point : points) {
    const double score = weights[0] * point.x + weights[1] * point.y + weights[2];
    const double probability = 1 / (1 + std::exp(-score));
    const double error = probability - point.above;
    sum[0] += error * point.x;
    sum[1] += error * point.y;
    sum[2] += error;
    sum[3] -= point.above > 0 ? std::log(probability) : std::log(1 - probability);
  }
  return sum;
}

headway::Json train(const headway::Json& config) {
  const double rate = config.at("lr").as_double();
  const std::vector<Point> points = my_points();
  Numbers weights{};
  for (int step = 0; step < config.at("steps").as_int(); ++step) {
    const Numbers sum = sum_over_ranks(gradient_and_loss(weights, points));
    for (std::size_t i = 0; i < 3; ++i) weights[i] -= rate * sum[i] / points_in_all;
    headway::report({{"step", step}, {"loss", sum[3] / points_in_all}});
  }
  return {weights[0], weights[1], weights[2]};
}
HEADWAY_TRAIN_LOOP(train);

}  // namespace

int main(int argc, char** argv) {
  headway::Main guard(argc, argv);
  const auto result = headway::Trainer(train, {.config = {{"lr", 2.0}, {"steps", 60}},
                                               .scaling = {.num_workers = 2},
                                               .run = {.storage_path = argc > 1 ? argv[1] : ""}})
                          .fit();
  if (!result) {
    std::cerr << result.error().message << '\n';
    return 1;
  }
  const headway::Json& weights = result->return_value;
  const double slope = -weights.at(0).as_double() / weights.at(1).as_double();
  const double offset = -weights.at(2).as_double() / weights.at(1).as_double();
  std::cout << "The line that was found: y = " << slope << " x + " << offset << " (it should be about y = 2 x - 1)\n"
            << "The last loss: " << result->metrics.at("loss").dump() << "\nThe run's folder: " << result->path << '\n';
  return std::abs(slope - 2) < 0.2 && std::abs(offset + 1) < 0.2 ? 0 : 1;
}
