#pragma once

#include <headway/data/dataset.hpp>
#include <headway/json.hpp>

#include "library/data_client.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace headway::data {

/// Where an iterator is, and which part of the rows it gives.
struct IteratorState {
  explicit IteratorState(Dataset dataset) : dataset(std::move(dataset)) {}

  static inline std::atomic<std::int64_t> made = 0;
  const std::int64_t number = ++made;  ///< No other iterator of this process has it.
  Dataset dataset;
  /// The name of a trainer's data set; empty for another one.
  std::string name = {};
  /// The name that those share who divide the rows; empty: one gets all.
  std::string group = {};
  int world_size = 1;
  int rank = 0;
  int clients_here = 0;
  int lanes = 1;  ///< Into which an epoch is cut; each machine reads its own.
  std::optional<std::uint64_t> seed = std::nullopt;
  /// An epoch, and a place in it, whose cursor is made when it is asked for; none at its begin.
  std::int64_t epoch = 0;
  std::function<std::string()> place = nullptr;

  Json cursor() const { return place ? Json::parse(place()).value() : Json(); }
  /// The loop that moves this position; 0: none. One that was left for another moves it no more.
  std::int64_t moving = 0;
  std::int64_t loops = 0;
  /// Whether another epoch is likely after the next one: in a training, and when the last loop came
  /// to its end.
  bool more = false;
  /// The stream of an epoch that came to its end. What the data process has begun of the next epoch
  /// lives as long as this.
  std::unique_ptr<library::DataStream> before = nullptr;
};

}  // namespace headway::data
