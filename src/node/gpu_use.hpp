#pragma once

#include "core/json.hpp"
#include "wire/fd.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace headway::node {

/// How much of a GPU is in use, by all processes of the machine.
struct GpuUse {
  int index = 0;
  std::string name;
  std::optional<double> share;  ///< Of the time that something ran on it. Unset: it does not tell.
  std::optional<double> memory_bytes;
  std::optional<double> memory_total_bytes;
};
BOOST_DESCRIBE_STRUCT(GpuUse, (), (index, name, share, memory_bytes, memory_total_bytes))

/// A line of `nvidia-smi --query-gpu=index,name,utilization.gpu,memory.used,memory.total
/// --format=csv,noheader,nounits`, whose sizes are MiB. Unset for any other line.
std::optional<GpuUse> parse_gpu_line(std::string_view line);

/// NVIDIA's GPUs of this machine, as its program nvidia-smi tells them each five seconds. Nothing
/// here waits for it: a driver that hangs hangs that program. Used by one thread at a time.
class GpuWatch {
 public:
  explicit GpuWatch(std::string program = "nvidia-smi") : program_(std::move(program)) {}
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  /// What it has told last, by index. Starts it at the first look.
  const std::vector<GpuUse>& look(std::chrono::steady_clock::time_point now);
  /// Why there is nothing: "nvidia-smi is not on the PATH". Empty: there is, or it has just begun.
  const std::string& why_none() const { return why_none_; }

 private:
  void start();
  bool read();
  void end(std::string why);

  std::string program_;
  bool begun_ = false;
  pid_t pid_ = -1;
  wire::Fd output_;
  std::string text_;  ///< Of a line that is not whole.
  std::vector<GpuUse> gpus_;
  std::chrono::steady_clock::time_point told_at_{};
  std::string why_none_;
};

}  // namespace headway::node
