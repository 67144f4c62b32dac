#include <headway/torch.hpp>
#include <headway/train.hpp>

#include <torch/torch.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

/// What headway/torch.hpp promises, in two ranks: `torch_program MODE STORAGE [LISTEN TOKEN_FILE]`.
/// Each rank reports what it found; see tests/python/test_cpp_torch.py.
namespace {

using headway::Json;
namespace distributed = headway::torch;

Json numbers(const torch::Tensor& tensor) {
  Json list = Json::array();
  const torch::Tensor flat = tensor.detach().to(torch::kFloat64).flatten().contiguous();
  for (std::int64_t i = 0; i < flat.numel(); ++i) list.push_back(flat[i].item<double>());
  return list;
}

/// Of this rank's own.
torch::Tensor input() { return torch::full({1, 2}, static_cast<double>(1 + headway::context().world_rank)); }

/// Gradients of one batch, of one more without the others, and of a third with them.
void accumulate() {
  auto model = distributed::prepare_model(torch::nn::Linear(2, 1));
  const torch::Tensor gradient = [&] {
    model(input()).sum().backward();
    return model.module()->weight.grad();
  }();
  Json found = {{"together", numbers(gradient)}};
  model.module()->zero_grad();
  {
    const auto alone = model.no_sync();
    model(input()).sum().backward();
    found["alone"] = numbers(model.module()->weight.grad());
  }
  model(10 * input()).sum().backward();
  found["after"] = numbers(model.module()->weight.grad());
  headway::report(found);
}
HEADWAY_TRAIN_LOOP(accumulate);

/// Ten steps, in which rank 1 computes longer, and between them passes that are no steps.
void be_slow_in_rank_1() {
  at::set_num_threads(1);
  auto model = distributed::prepare_model(torch::nn::Linear(2, 1));
  torch::optim::SGD optimizer(model.parameters(), 0.01);
  for (int step = 0; step < 10; ++step) {
    const auto busy_until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(50) * headway::context().world_rank;
    while (std::chrono::steady_clock::now() < busy_until) continue;
    {
      const auto alone = model.no_sync();
      model(input()).sum().backward();
    }
    const at::NoGradGuard evaluates;
    model(input());
    const at::AutoGradMode trains(true);
    model(input()).sum().backward();
    optimizer.step();
    optimizer.zero_grad();
  }
  headway::report({{"weights", numbers(model.module()->weight)}});
}
HEADWAY_TRAIN_LOOP(be_slow_in_rank_1);

/// Two ways through, of which a pass takes one, and a buffer.
struct ForkedImpl : torch::nn::Module {
  ForkedImpl() {
    left = register_module("left", torch::nn::Linear(2, 1));
    right = register_module("right", torch::nn::Linear(2, 1));
    mark = register_buffer("mark", torch::full({1}, 5.0 + headway::context().world_rank));
  }
  torch::Tensor forward(const torch::Tensor& x, bool to_left) { return to_left ? left(x) : right(x); }
  torch::nn::Linear left = nullptr;
  torch::nn::Linear right = nullptr;
  torch::Tensor mark;
};
TORCH_MODULE(Forked);

void leave_parameters_out() {
  auto model = distributed::prepare_model(Forked(), {.find_unused_parameters = true});
  for (const bool to_left : {true, false, true}) {
    model.module()->zero_grad();
    model(input(), to_left).sum().backward();
  }
  headway::report(
      {{"left", numbers(model.module()->left->weight.grad())}, {"weights", numbers(model.module()->right->weight)}});
}
HEADWAY_TRAIN_LOOP(leave_parameters_out);

void send_buffers() {
  auto model = distributed::prepare_model(Forked(), {.find_unused_parameters = true});
  Json found = {{"made", numbers(model.module()->mark)}};
  model(input(), true).sum().backward();
  model.module()->mark.fill_(10 + headway::context().world_rank);
  model(input(), true).sum().backward();
  found["sent"] = numbers(model.module()->mark);
  headway::report(found);
}
HEADWAY_TRAIN_LOOP(send_buffers);

void differ_in_shape() {
  auto model = distributed::prepare_model(torch::nn::Linear(2 + headway::context().world_rank, 1));
}
HEADWAY_TRAIN_LOOP(differ_in_shape);

/// Sample i is the number i.
struct Numbers : torch::data::datasets::Dataset<Numbers, torch::data::TensorExample> {
  torch::data::TensorExample get(std::size_t index) override { return {torch::full({1}, static_cast<double>(index))}; }
  std::optional<std::size_t> size() const override { return 11; }
};

void load_data() {
  distributed::DistributedSampler sampler(11, true, 7);
  auto loader =
      distributed::prepare_data_loader(Numbers().map(torch::data::transforms::Stack<torch::data::TensorExample>()),
                                       sampler, torch::data::DataLoaderOptions(4));
  for (const std::uint64_t epoch : {0, 3}) {
    sampler.set_epoch(epoch);
    Json seen = Json::array();
    for (const auto& batch : *loader) {
      const Json part = numbers(batch.data);
      for (const Json& number : part.as_array()) seen.push_back(number);
    }
    headway::report({{"epoch", epoch}, {"seen", seen}, {"size", sampler.size()}});
  }
}
HEADWAY_TRAIN_LOOP(load_data);

/// Five steps of Adam; where the configuration says so, the last rank dies after the third.
void go_on(const Json& config) {
  torch::manual_seed(0);
  auto model = distributed::prepare_model(torch::nn::Linear(2, 1));
  torch::optim::Adam optimizer(model.parameters(), torch::optim::AdamOptions(0.1));
  std::int64_t first = 0;
  if (const auto checkpoint = headway::get_checkpoint()) {
    first = distributed::load_checkpoint(*checkpoint, model.module(), optimizer).at("step").as_int() + 1;
  }
  const headway::Context& me = headway::context();
  for (std::int64_t step = first; step < 5; ++step) {
    optimizer.zero_grad();
    (model(input()) - static_cast<double>(step)).pow(2).sum().backward();
    optimizer.step();
    const std::string folder = me.run_directory + "/../local_" + std::to_string(me.world_rank);
    std::filesystem::create_directories(folder);
    std::optional<headway::Checkpoint> saved;
    if (me.world_rank == 0) saved = distributed::save_checkpoint(folder, model.module(), optimizer, {{"step", step}});
    headway::report({{"weights", numbers(model.module()->weight)}, {"begun_at", first}}, saved);
    if (step == 2 && me.world_rank == 1 && me.attempt == 1 && config.at("dies").as_bool()) raise(SIGKILL);
  }
}
HEADWAY_TRAIN_LOOP(go_on);

void draw() {
  distributed::enable_reproducibility(3);
  headway::report({{"drawn", numbers(torch::rand({3}))},
                   {"deterministic", at::globalContext().deterministicAlgorithms()},
                   {"device", distributed::get_device().str()}});
}
HEADWAY_TRAIN_LOOP(draw);

/// The program, or a library of it, may have taken the variable away.
void compute_without_variable() {
  unsetenv("OMP_NUM_THREADS");
  torch::Tensor ones = torch::ones({1});
  std::vector<torch::Tensor> tensors{ones};
  distributed::process_group()->allreduce(tensors)->wait();
  headway::report({{"sum", ones.item<double>()}, {"threads", at::get_num_threads()}});
}
HEADWAY_TRAIN_LOOP(compute_without_variable);

Json find_device(const headway::Checkpoint&) {
  return {{"device", distributed::get_device().str()}, {"cpus", headway::process_context().cpus}};
}
HEADWAY_VALIDATION(find_device);

void validate_on_device() {
  const headway::Context& me = headway::context();
  const std::string folder = me.run_directory + "/../local_" + std::to_string(me.world_rank);
  std::filesystem::create_directories(folder);
  std::optional<headway::Checkpoint> saved;
  if (me.world_rank == 0) saved = headway::Checkpoint::from_directory(folder);
  headway::report(Json::object(), saved, {.validation = me.world_rank == 0});
  headway::report(headway::get_all_reported_checkpoints().at(0).metrics);
}
HEADWAY_TRAIN_LOOP(validate_on_device);

/// Tensors of a data set's columns, which outlive their batches.
void share_columns() {
  std::vector<torch::Tensor> ids;
  bool is_shared = true;
  for (const headway::data::Batch& batch : headway::get_dataset_shard("train").batches({.batch_size = 2})) {
    ids.push_back(distributed::tensor(batch["id"]));
    is_shared = is_shared && ids.back().data_ptr() == batch["id"].bytes().data();
  }
  headway::report({{"ids", numbers(torch::cat(ids))}, {"shared", is_shared}, {"batches", ids.size()}});
}
HEADWAY_TRAIN_LOOP(share_columns);

/// The sum over all ranks, which are on several nodes.
void meet() {
  torch::Tensor ones = torch::ones({1});
  std::vector<torch::Tensor> tensors{ones};
  distributed::process_group()->allreduce(tensors)->wait();
  headway::report({{"sum", ones.item<double>()}, {"ip", headway::context().node_ip}});
}
HEADWAY_TRAIN_LOOP(meet);

/// Prints every rank's report as one line of JSON.
struct Printer : headway::Callback {
  void after_report(const std::vector<Json>& metrics, const std::optional<headway::Checkpoint>&) override {
    std::cout << "REPORT " << Json(metrics).dump() << std::endl;
  }
};

}  // namespace

int main(int argc, char** argv) {
  const headway::Main guard(argc, argv);
  const std::map<std::string, headway::TrainLoop> loops{{"accumulate", accumulate},
                                                        {"be_slow_in_rank_1", be_slow_in_rank_1},
                                                        {"leave_parameters_out", leave_parameters_out},
                                                        {"send_buffers", send_buffers},
                                                        {"differ_in_shape", differ_in_shape},
                                                        {"load_data", load_data},
                                                        {"go_on", go_on},
                                                        {"go_on_after_a_death", go_on},
                                                        {"draw", draw},
                                                        {"share_columns", share_columns},
                                                        {"meet", meet},
                                                        {"compute_without_variable", compute_without_variable},
                                                        {"validate_on_device", validate_on_device}};
  const std::string mode = argc == 3 || argc == 5 ? argv[1] : "";
  if (!loops.contains(mode)) return 2;
  headway::TrainerOptions options;
  options.config = {{"dies", mode == "go_on_after_a_death"}};
  options.scaling.num_workers = 2;
  if (argc == 5) {
    headway::init({.num_cpus = 1, .listen = argv[3], .token_file = argv[4]}).value();
    std::cout << "JOIN " << headway::join_address() << std::endl;
    options.scaling.placement_strategy = "STRICT_SPREAD";
  }
  options.run = {
      .name = "run", .storage_path = argv[2], .failure = {.max_failures = mode == "differ_in_shape" ? 0 : 1}};
  if (mode == "share_columns") options.datasets = {{"train", headway::data::range(8)}};
  if (mode == "validate_on_device") options.validation = {.function = find_device};
  options.callbacks = {std::make_shared<Printer>()};
  const auto result = headway::Trainer(loops.at(mode), options).fit();
  if (!result) std::cerr << result.error().message << std::endl;
  return result ? 0 : 1;
}
