#pragma once

#include <headway/torch/version.hpp>

#include <headway/checkpoint.hpp>
#include <headway/json.hpp>

#include <torch/optim/optimizer.h>
#include <torch/optim/serialize.h>
#include <torch/serialize.h>

#include <fstream>
#include <iterator>
#include <string>

namespace headway::torch {

/// Writes a model's parameters and buffers, its optimizer's state and `state` (an epoch, say) as files of a directory, for `report`.
/// The model is that of before `prepare_model`, or `prepared.module()`. Throws what torch::save throws.
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

/// Loads what `save_checkpoint` wrote, and returns its `state`. Throws what torch::load throws, and `BadResult` (`corrupted`).
template <class Module>
Json load_checkpoint(const Checkpoint& checkpoint, Module& module, ::torch::optim::Optimizer& optimizer) {
  const CheckpointDirectory files = checkpoint.as_directory().value();
  ::torch::load(module, files.path() + "/model.pt");
  ::torch::load(optimizer, files.path() + "/optimizer.pt");
  std::ifstream file(files.path() + "/state.json");
  return Json::parse(std::string(std::istreambuf_iterator<char>(file), {})).value();
}

}  // namespace headway::torch
