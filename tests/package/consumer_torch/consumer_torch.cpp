#include <headway/torch/process_group.hpp>
#include <headway/train.hpp>

#include <iostream>
#include <vector>

namespace {

/// The sum of all ranks' numbers, by libtorch's own collective.
void add_up() {
  std::vector<at::Tensor> number{torch::ones({1}, headway::torch::get_device()) * (1 + headway::context().world_rank)};
  headway::torch::process_group()->allreduce(number)->wait();
  headway::report({{"sum", number[0].item<double>()}});
}
HEADWAY_TRAIN_LOOP(add_up);

}  // namespace

int main(int argc, char** argv) {
  const headway::Main guard(argc, argv);
  headway::TrainerOptions options{.scaling = {.num_workers = 2}};
  options.run.storage_path = argv[1];
  const auto result = headway::Trainer(add_up, options).fit();
  if (!result) {
    std::cout << result.error().message << '\n';
    return 1;
  }
  std::cout << "the sum is " << result->metrics.at("sum").as_int() << '\n';
  return 0;
}
