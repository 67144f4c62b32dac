#include "flow/placed.hpp"

#include <memory>
#include <utility>

namespace headway::flow {
namespace {

class Placed : public arrow::StatusDetail {
 public:
  explicit Placed(std::shared_ptr<arrow::StatusDetail> before) : before_(std::move(before)) {}
  const char* type_id() const override { return "headway::Placed"; }
  std::string ToString() const override { return before_ == nullptr ? "" : before_->ToString(); }
  const std::shared_ptr<arrow::StatusDetail>& before() const { return before_; }

 private:
  std::shared_ptr<arrow::StatusDetail> before_;
};

const Placed* place_of(const arrow::Status& status) { return dynamic_cast<const Placed*>(status.detail().get()); }

}  // namespace

arrow::Status placed(const arrow::Status& status, const std::string& place) {
  if (status.ok() || is_placed(status)) return status;
  return status.WithMessage(place, place.empty() ? "" : ": ", status.message())
      .WithDetail(std::make_shared<Placed>(status.detail()));
}

bool is_placed(const arrow::Status& status) { return place_of(status) != nullptr; }

arrow::Status unplaced(const arrow::Status& status) {
  const Placed* const place = place_of(status);
  return place == nullptr ? status : status.WithDetail(place->before());
}

}  // namespace headway::flow
