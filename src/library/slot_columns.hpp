#pragma once

#include <headway/data/batch.hpp>

#include "feed/feed_client.hpp"

#include <memory>

namespace headway::library {

/// A batch of the data process as programs see it: its columns view the slot, and keep it. Only
/// bools are copied, from bits to bytes.
data::Batch as_columns(const std::shared_ptr<feed::Batch>& batch);

}  // namespace headway::library
