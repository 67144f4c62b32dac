#pragma once

#include <headway/data/iterator.hpp>
#include <headway/export.hpp>

#include <string>

namespace headway {

/// This rank's share of a data set of `TrainerOptions::datasets`. Shares of all ranks are equal, so
/// that they make equal steps; what is left over at the end of an epoch, less than a row for each
/// rank, is left out. Every rank must consume its share. Throws `BadResult`: `invalid_argument`
/// outside of a training loop, `not_found` when the trainer has no data set of this name.
///
///     for (const auto& batch : headway::get_dataset_shard("train").batches({.batch_size = 32})) ...
HEADWAY_API data::DataIterator get_dataset_shard(const std::string& name = "train");

}  // namespace headway
