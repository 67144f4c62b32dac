#pragma once

#include <headway/data/batch.hpp>
#include <headway/export.hpp>
#include <headway/json.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace headway::data {

/// How rows are cut into batches.
struct BatchOptions {
  /// Rows of each batch but the last; none: pieces as they are, and 4096 for ranks that share.
  std::optional<std::int64_t> batch_size = 256;
  bool drop_last = false;    ///< Whether a shorter last batch is left out.
  int prefetch_batches = 1;  ///< Batches that are made ahead.
  /// Rows that are shuffled among each other, on top of the data set's own order.
  std::optional<std::int64_t> local_shuffle_buffer_size = std::nullopt;
  /// Of that order; none: the run's.
  std::optional<std::uint64_t> local_shuffle_seed = std::nullopt;
};

struct IteratorState;
class EpochRun;

/// The batches of an iterator: each loop over it is one more epoch.
class HEADWAY_API Epochs {
 public:
  /// Within one epoch. Throws `BadResult` where the data or a function of the data set fails. It is
  /// not at the end then: each further use throws the same again.
  class HEADWAY_API Iterator {
   public:
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    explicit Iterator(std::shared_ptr<EpochRun> run) : run_(std::move(run)) {}
    const Batch& operator*() const;
    Iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const;

   private:
    std::shared_ptr<EpochRun> run_;
  };

  Epochs(std::shared_ptr<IteratorState> state, BatchOptions options);
  /// Begins the next epoch, or the rest of one that is resumed. Throws as the iterator.
  Iterator begin() const;
  static std::default_sentinel_t end() { return {}; }

 private:
  std::shared_ptr<IteratorState> state_;
  BatchOptions options_;
};

/// Gives the rows of a data set, or a rank's share of them, epoch after epoch. Copies are the same
/// iterator. It knows which rows were consumed: in a training each `report` with a checkpoint
/// stores it, so that a restart resumes at the very next row.
class HEADWAY_API DataIterator {
 public:
  /// Throws `BadResult` (`invalid_argument`), naming the option.
  Epochs batches(const BatchOptions& options = {}) const;

  /// Where the iteration is, after the rows that were consumed so far: an object.
  Json state() const;
  /// The next iteration begins there. Throws `BadResult` (`invalid_argument`) for what `state()`
  /// has not given.
  void load_state(const Json& state);

  /// For Headway's own use.
  explicit DataIterator(std::shared_ptr<IteratorState> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<IteratorState> state_;
};

}  // namespace headway::data
