#include "flow/sources/wider_types.hpp"

#include "flow/functions/wider_schema.hpp"

#include <algorithm>

namespace headway::flow {
namespace {

constexpr std::size_t sources_max = 64;

}  // namespace

std::shared_ptr<arrow::Schema> WiderTypes::find(const std::string& source) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(known_, source, &Known::source);
  if (found == known_.end()) return nullptr;
  known_.splice(known_.begin(), known_, found);
  return found->schema;
}

void WiderTypes::add(const std::string& source, const std::shared_ptr<arrow::Schema>& schema) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(known_, source, &Known::source);
  if (found != known_.end()) {
    found->schema = wider_schema(found->schema, *schema);
    return;
  }
  known_.push_front({source, schema});
  if (known_.size() > sources_max) known_.pop_back();
}

}  // namespace headway::flow
