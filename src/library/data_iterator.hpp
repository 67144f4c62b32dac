#pragma once

#include <headway/data/dataset.hpp>
#include <headway/json.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace headway::data {

/// Where an iterator is, and which part of the rows it gives.
struct IteratorState {
  explicit IteratorState(Dataset dataset) : dataset(std::move(dataset)) {}

  Dataset dataset;
  /// The name of a trainer's data set; empty for another one.
  std::string name = {};
  /// The name that those share who divide the rows; empty: one gets all.
  std::string group = {};
  int world_size = 1;
  int rank = 0;
  int clients_here = 0;
  std::optional<std::uint64_t> seed = std::nullopt;
  /// An epoch, and a cursor in it; null at its begin.
  std::int64_t epoch = 0;
  Json cursor = {};
  /// The loop that moves this position; 0: none. One that was left for another moves it no more.
  std::int64_t moving = 0;
  std::int64_t loops = 0;
};

}  // namespace headway::data
