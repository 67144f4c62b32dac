#pragma once

#include "bindings/module.hpp"
#include "feed/feed_client.hpp"

#include <memory>

namespace headway::bindings {

/// A batch of a data set, as Python has it: its memory by the buffer protocol, which keeps it.
struct PyBatch {
  std::shared_ptr<feed::Batch> batch;
};

void bind_batch(nanobind::module_& module);

}  // namespace headway::bindings
