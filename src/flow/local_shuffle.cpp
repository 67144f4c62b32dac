#include "flow/local_shuffle.hpp"

#include "data/philox.hpp"

#include <arrow/array/array_primitive.h>
#include <arrow/buffer.h>
#include <arrow/compute/api_vector.h>
#include <arrow/compute/exec.h>
#include <arrow/datum.h>

#include <numeric>
#include <vector>

namespace headway::flow {
namespace {

class UnitShuffle : public UnitStep {
 public:
  explicit UnitShuffle(arrow::MemoryPool* pool) : pool_(pool) {}

  arrow::Result<std::shared_ptr<arrow::Schema>> schema(const std::shared_ptr<arrow::Schema>& input) const override {
    return input;
  }

  bool needs_whole_unit() const override { return true; }

  arrow::Status run(const std::shared_ptr<arrow::RecordBatch>& rows, std::int64_t, const UnitPlace& place,
                    const ItemSink& sink) const override {
    if (rows == nullptr) return arrow::Status::OK();
    std::vector<std::uint32_t> numbers(static_cast<std::size_t>(rows->num_rows()));
    std::iota(numbers.begin(), numbers.end(), 0U);
    data::RandomStream stream(place.seed, place.epoch, data::Purpose::rows, static_cast<std::uint32_t>(place.unit));
    data::shuffle(numbers, stream);
    const auto order = std::make_shared<arrow::UInt32Array>(rows->num_rows(), arrow::Buffer::Wrap(numbers));
    arrow::compute::ExecContext context(pool_);
    ARROW_ASSIGN_OR_RAISE(const arrow::Datum taken,
                          arrow::compute::Take(rows, order, arrow::compute::TakeOptions::NoBoundsCheck(), &context));
    return sink(taken.record_batch());
  }

 private:
  arrow::MemoryPool* const pool_;
};

}  // namespace

std::shared_ptr<const UnitStep> shuffle_of_units(arrow::MemoryPool* pool) {
  return std::make_shared<UnitShuffle>(pool);
}

}  // namespace headway::flow
