// Handwritten digits from C++: the network, the data, the seed and the losses of
// examples/digits.py, on two workers with gradients averaged by PyTorch's own reducer.
//
//   example_digits DATA [EPOCHS [STORAGE]]
//
// DATA is a folder that examples/cpp/digits/export_data.py has written.

#include <headway/torch.hpp>
#include <headway/train.hpp>

#include <torch/torch.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

struct Digits {
  torch::Tensor images;  ///< [n, 1, 8, 8], 0 to 1.
  torch::Tensor labels;  ///< [n], 0 to 9.
};

template <class Number>
torch::Tensor read_numbers(const std::string& path, torch::Dtype type) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (bytes.empty()) throw std::runtime_error("no data in " + path + "; export_data.py writes it");
  const auto count = static_cast<std::int64_t>(bytes.size() / sizeof(Number));
  return torch::from_blob(const_cast<char*>(bytes.data()), {count}, type).clone();
}

Digits load(const std::string& folder, const std::string& part) {
  return {read_numbers<float>(folder + "/" + part + "_images.f32", torch::kFloat32).view({-1, 1, 8, 8}),
          read_numbers<std::int64_t>(folder + "/" + part + "_labels.i64", torch::kInt64)};
}

torch::nn::Sequential make_model() {
  using namespace torch::nn;
  // One after the other: a compiler may make the arguments of one call in any order, and their
  // numbers come from one generator.
  Sequential model;
  model->push_back(Conv2d(Conv2dOptions(1, 16, 3).padding(1)));
  model->push_back(ReLU());
  model->push_back(Conv2d(Conv2dOptions(16, 32, 3).padding(1)));
  model->push_back(ReLU());
  model->push_back(MaxPool2d(2));
  model->push_back(Flatten());
  model->push_back(Linear(32 * 4 * 4, 10));
  return model;
}

using Model = headway::torch::DistributedModel<torch::nn::Sequential>;

/// The mean loss over this worker's share of the data.
double train_one_epoch(Model& model, torch::optim::Optimizer& optimizer, const Digits& digits,
                       headway::torch::DistributedSampler& sampler) {
  model.train();
  double sum = 0;
  int batches = 0;
  while (const auto batch = sampler.next(32)) {
    const auto indices = torch::tensor(std::vector<std::int64_t>(batch->begin(), batch->end()));
    const auto loss = torch::nn::functional::cross_entropy(model(digits.images.index_select(0, indices)),
                                                           digits.labels.index_select(0, indices));
    optimizer.zero_grad();
    // Here the workers' gradients are averaged, while the last of them are still being computed.
    loss.backward();
    optimizer.step();
    sum += loss.item<double>();
    ++batches;
  }
  return sum / batches;
}

double accuracy(Model& model, const Digits& digits) {
  const torch::NoGradGuard no_gradients;
  model.eval();
  return (model(digits.images).argmax(1) == digits.labels).to(torch::kFloat32).mean().item<double>();
}

void train_digits(const headway::Json& config) {
  torch::manual_seed(0);
  const std::string data = config.at("data").as_string();
  const Digits training = load(data, "training");
  const Digits test = load(data, "test");
  headway::torch::DistributedSampler sampler(static_cast<std::size_t>(training.images.size(0)));
  Model model = headway::torch::prepare_model(make_model());
  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));

  std::int64_t first = 1;
  if (const auto checkpoint = headway::get_checkpoint()) {
    first = headway::torch::load_checkpoint(*checkpoint, model.module(), optimizer).at("epoch").as_int() + 1;
  }
  for (std::int64_t epoch = first; epoch <= config.at("epochs").as_int(); ++epoch) {
    const auto started = std::chrono::steady_clock::now();
    sampler.set_epoch(static_cast<std::uint64_t>(epoch));  // Another order in each epoch.
    sampler.reset();
    const double loss = train_one_epoch(model, optimizer, training, sampler);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    const headway::Json metrics = {{"epoch", epoch},
                                   {"loss", loss},
                                   {"accuracy", accuracy(model, test)},
                                   {"samples_per_s", static_cast<double>(training.images.size(0)) / seconds}};
    if (headway::context().world_rank != 0) {
      headway::report(metrics);
      continue;
    }
    std::string folder = (std::filesystem::temp_directory_path() / "digits_XXXXXX").string();
    if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary directory can be made");
    headway::report(metrics, headway::torch::save_checkpoint(folder, model.module(), optimizer, {{"epoch", epoch}}),
                    {.move = true});
  }
}
HEADWAY_TRAIN_LOOP(train_digits);

}  // namespace

int main(int argc, char** argv) {
  headway::Main guard(argc, argv);
  if (argc < 2) {
    std::cerr << "usage: example_digits DATA [EPOCHS [STORAGE]]\n";
    return 2;
  }
  headway::TrainerOptions options;
  options.config = {{"data", std::filesystem::absolute(argv[1]).string()},
                    {"epochs", argc > 2 ? std::atoi(argv[2]) : 10}};
  options.scaling.num_workers = 2;
  options.run = {.storage_path = argc > 3 ? argv[3] : "",
                 .failure = {.max_failures = 1},
                 .checkpoint = {.num_to_keep = 2, .checkpoint_score_attribute = "accuracy"}};
  const auto result = headway::Trainer(train_digits, options).fit();
  if (!result) {
    std::cerr << result.error().message << '\n';
    return 1;
  }
  std::cout << "The last test accuracy is " << result->metrics.at("accuracy").dump()
            << ".\nThe newest checkpoint: " << result->checkpoint->path() << "\nThe run's folder: " << result->path
            << '\n';
  return 0;
}
