#include "flow/shuffle_choice.hpp"

#include "flow/batch_bytes.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>

namespace headway::flow {
namespace {

/// Rows whose first ones were taken before.
class BegunStage : public Stage {
 public:
  BegunStage(std::deque<Chunk> first, std::shared_ptr<Stage> rest, bool has_ended)
      : first_(std::move(first)), rest_(std::move(rest)), has_ended_(has_ended) {}

  arrow::Result<std::optional<Chunk>> next() override {
    if (first_.empty()) return has_ended_ ? arrow::Result<std::optional<Chunk>>(std::nullopt) : rest_->next();
    Chunk chunk = std::move(first_.front());
    first_.pop_front();
    return chunk;
  }

  std::shared_ptr<arrow::Schema> schema() const override { return rest_->schema(); }
  void stop() override { rest_->stop(); }

 private:
  std::deque<Chunk> first_;
  const std::shared_ptr<Stage> rest_;
  const bool has_ended_;
};

class ShuffleChoice : public Stage {
 public:
  ShuffleChoice(std::unique_ptr<Stage> rows, std::int64_t bytes_max, OverRows in_memory, OverRows on_disk)
      : rows_(std::move(rows)), bytes_max_(bytes_max), in_memory_(std::move(in_memory)), on_disk_(std::move(on_disk)) {}

  arrow::Result<std::optional<Chunk>> next() override {
    if (chosen_ == nullptr) ARROW_RETURN_NOT_OK(choose());
    return chosen_->next();
  }

  /// On disk, dictionaries become their values.
  std::shared_ptr<arrow::Schema> schema() const override {
    const auto schema = rows_->schema();
    const auto is_dictionary = [](const auto& field) { return field->type()->id() == arrow::Type::DICTIONARY; };
    return schema != nullptr && std::ranges::any_of(schema->fields(), is_dictionary) ? nullptr : schema;
  }

  void stop() override {
    rows_->stop();
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    if (chosen_ != nullptr) chosen_->stop();
  }

 private:
  arrow::Status choose() {
    std::deque<Chunk> first;
    std::int64_t bytes = 0;
    bool has_ended = false;
    while (bytes <= bytes_max_) {
      ARROW_ASSIGN_OR_RAISE(auto chunk, rows_->next());
      has_ended = !chunk;
      if (!chunk) break;
      if (chunk->rows != nullptr) bytes += batch_bytes(*chunk->rows);
      first.push_back(std::move(*chunk));
    }
    const OverRows& make = has_ended ? in_memory_ : on_disk_;
    ARROW_ASSIGN_OR_RAISE(auto made, make(std::make_unique<BegunStage>(std::move(first), rows_, has_ended)));
    const std::lock_guard lock(mutex_);
    chosen_ = std::move(made);
    return stopped_ ? arrow::Status::Cancelled("the stream was closed") : arrow::Status::OK();
  }

  const std::shared_ptr<Stage> rows_;
  const std::int64_t bytes_max_;
  const OverRows in_memory_;
  const OverRows on_disk_;
  std::mutex mutex_;
  std::unique_ptr<Stage> chosen_;  ///< Only the thread that pulls sets it.
  bool stopped_ = false;
};

}  // namespace

std::unique_ptr<Stage> shuffled_where_they_fit(std::unique_ptr<Stage> rows, std::int64_t bytes_max, OverRows in_memory,
                                               OverRows on_disk) {
  return std::make_unique<ShuffleChoice>(std::move(rows), bytes_max, std::move(in_memory), std::move(on_disk));
}

}  // namespace headway::flow
