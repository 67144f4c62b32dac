#pragma once

#include <headway/torch/version.hpp>

#include <headway/checkpoint.hpp>
#include <headway/json.hpp>

#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>
#include <torch/optim/serialize.h>
#include <torch/serialize.h>

#include <fstream>
#include <iterator>
#include <string>

namespace headway::torch {

namespace detail {

/// Into the tensors that are there. What torch::load does, other storage for them, undoes the hooks
/// by which gradients are averaged.
inline void copy_in(const std::string& name, at::Tensor& tensor, const at::Tensor& stored) {
  TORCH_CHECK_VALUE(tensor.sizes() == stored.sizes(), "load_checkpoint: ", name, " is of the shape ", stored.sizes(),
                    " in the checkpoint; allowed: that of the model, ", tensor.sizes());
  tensor.copy_(stored);
}

inline void load_module(::torch::serialize::InputArchive& archive, ::torch::nn::Module& module,
                        const std::string& prefix = "") {
  const at::NoGradGuard no_gradients;
  for (auto& parameter : module.named_parameters(false)) {
    at::Tensor stored;
    archive.read(parameter.key(), stored);
    copy_in(prefix + parameter.key(), parameter.value(), stored);
  }
  for (auto& buffer : module.named_buffers(false)) {
    at::Tensor stored;
    archive.read(buffer.key(), stored, true);
    copy_in(prefix + buffer.key(), buffer.value(), stored);
  }
  for (const auto& child : module.named_children()) {
    if (!child.value()->is_serializable()) continue;
    ::torch::serialize::InputArchive part;
    archive.read(child.key(), part);
    load_module(part, *child.value(), prefix + child.key() + ".");
  }
}

}  // namespace detail

/// Writes a model's parameters and buffers, its optimizer's state and `state` (for example an
/// epoch) as files of a directory, for `report`. The model is that of before `prepare_model`, or
/// `prepared.module()`. Throws what torch::save throws.
template <class Module>
Checkpoint save_checkpoint(const std::string& directory, const Module& module,
                           const ::torch::optim::Optimizer& optimizer, const Json& state = Json::object()) {
  ::torch::save(module, directory + "/model.pt");
  ::torch::save(optimizer, directory + "/optimizer.pt");
  std::ofstream file(directory + "/state.json");
  file << state.dump() << '\n';
  if (!file.flush()) throw BadResult({ErrorKind::unavailable, "cannot write " + directory + "/state.json"});
  return Checkpoint::from_directory(directory);
}

/// Loads what `save_checkpoint` wrote into a model, before or after `prepare_model` (then
/// `prepared.module()`), and its optimizer, and returns its `state`. Throws what torch::load
/// throws, a c10::ValueError that names the first parameter of another shape, and `BadResult`
/// (`corrupted`, and those of `Checkpoint::as_directory`).
template <class Module>
Json load_checkpoint(const Checkpoint& checkpoint, Module& module, ::torch::optim::Optimizer& optimizer) {
  const CheckpointDirectory files = checkpoint.as_directory().value();
  ::torch::serialize::InputArchive archive;
  archive.load_from(files.path() + "/model.pt");
  detail::load_module(archive, *module);
  ::torch::load(optimizer, files.path() + "/optimizer.pt");
  std::ifstream file(files.path() + "/state.json");
  return Json::parse(std::string(std::istreambuf_iterator<char>(file), {})).value();
}

}  // namespace headway::torch
