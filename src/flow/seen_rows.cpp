#include "flow/seen_rows.hpp"

#include "flow/functions/wider_schema.hpp"

#include <algorithm>

namespace headway::flow {
namespace {

constexpr std::size_t givers_max = 64;

}  // namespace

SeenRows::Known* SeenRows::find(const std::string& giver) {
  const auto found = std::ranges::find(known_, giver, &Known::giver);
  if (found == known_.end()) return nullptr;
  known_.splice(known_.begin(), known_, found);
  return &*found;
}

SeenRows::Known& SeenRows::found_or_new(const std::string& giver) {
  if (Known* const known = find(giver)) return *known;
  known_.push_front({giver});
  if (known_.size() > givers_max) known_.pop_back();
  return known_.front();
}

std::shared_ptr<arrow::Schema> SeenRows::types(const std::string& giver) {
  const std::lock_guard lock(mutex_);
  const Known* const known = find(giver);
  return known == nullptr ? nullptr : known->types;
}

void SeenRows::add_types(const std::string& giver, const std::shared_ptr<arrow::Schema>& schema) {
  const std::lock_guard lock(mutex_);
  Known& known = found_or_new(giver);
  known.types = known.types == nullptr ? schema : wider_schema(known.types, *schema);
}

bool SeenRows::are_large(const std::string& giver) {
  const std::lock_guard lock(mutex_);
  const Known* const known = find(giver);
  return known != nullptr && known->are_large;
}

void SeenRows::set_large(const std::string& giver) {
  const std::lock_guard lock(mutex_);
  found_or_new(giver).are_large = true;
}

}  // namespace headway::flow
