#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

/// In place of libtorch's own, which needs the headers of CUDA: what Headway uses of it.
/// test_torch_headers.py compares it with that one.
namespace c10d {

class ProcessGroupNCCL : public Backend {
 public:
  struct Options : Backend::Options {
    explicit Options(bool is_high_priority_stream = false) : Backend::Options("nccl") { (void)is_high_priority_stream; }
    // clang-format off
    static c10::intrusive_ptr<Options> create(
        bool is_high_priority_stream = false) {
      return c10::make_intrusive<Options>(is_high_priority_stream);
    }
    // clang-format on
  };

  // clang-format off
  ProcessGroupNCCL(
      c10::intrusive_ptr<Store> store,
      int rank,
      int size,
      c10::intrusive_ptr<Options> options = Options::create());
  // clang-format on
};

}  // namespace c10d
