#include "cluster/agent_messages.hpp"

#include <array>
#include <cstdio>

namespace headway::cluster {
namespace {

/// In few characters, however large.
std::string short_text(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", number);
  return text.data();
}

Result<void> check_number(const std::string& name, double value, double least, double most) {
  if (value >= least && value <= most) return {};  // Not so for what is no number.
  return Error{ErrorKind::corrupted,
               name + " is " + short_text(value) + "; allowed: " + short_text(least) + " to " + short_text(most)};
}

constexpr double amount_max = 1e15;  // Bytes of memory are counted too.
constexpr int gpus_max = 1024;

/// A part of a whole, and bytes; what is unset is sound.
Result<void> check_use(const std::optional<double>& share, const std::optional<double>& bytes,
                       const std::optional<double>& total_bytes) {
  if (auto sound = check_number("a share in use", share.value_or(0), 0, 1); !sound) return sound;
  if (auto sound = check_number("its memory in use", bytes.value_or(0), 0, amount_max); !sound) return sound;
  return check_number("its memory", total_bytes.value_or(0), 0, amount_max);
}

}  // namespace

Result<void> check_message(const Join& message) {
  for (const auto& [name, amount] : message.resources) {
    if (auto sound = check_number("its resource " + name, amount, 0, name == "GPU" ? gpus_max : amount_max); !sound)
      return sound;
  }
  if (std::ssize(message.gpu_ids) > gpus_max) return Error{ErrorKind::corrupted, "it has too many GPUs"};
  return {};
}

Result<void> check_message(const Welcome& message) { return check_number("its lease", message.lease_s, 1, 3600); }

/// They become names of files.
Result<void> check_message(const StartWorker& message) {
  constexpr std::size_t hash_size = 64;
  for (const node::Package& package : message.launch.factory.packages) {
    if (package.hash.size() != hash_size || package.hash.find_first_not_of("0123456789abcdef") != std::string::npos)
      return Error{ErrorKind::corrupted, "a worker's package has no SHA-256 for its name"};
  }
  return {};
}

Result<void> check_message(const Preempting& message) {
  constexpr double week_s = 7 * 24 * 3600;
  return check_number("its notice period", message.grace_s, 0, week_s);
}

Result<void> check_message(const UseTold& message) {
  const node::Use& use = message.use;
  if (std::ssize(use.gpus) > gpus_max) return Error{ErrorKind::corrupted, "it has too many GPUs"};
  for (const node::GpuUse& gpu : use.gpus) {
    if (auto sound = check_use(gpu.share, gpu.memory_bytes, gpu.memory_total_bytes); !sound) return sound;
  }
  return check_use(use.cpu_share, use.memory_bytes, use.memory_total_bytes);
}

}  // namespace headway::cluster
