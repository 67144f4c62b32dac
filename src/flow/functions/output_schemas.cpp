#include "flow/functions/output_schemas.hpp"

#include <algorithm>
#include <utility>

namespace headway::flow {
namespace {

constexpr std::size_t givers_max = 64;

}  // namespace

std::shared_ptr<arrow::Schema> OutputSchemas::of(const std::string& giver) const {
  const auto found = std::ranges::find(decided_, giver, &Decided::giver);
  return found == decided_.end() ? known_ : found->schema;
}

std::shared_ptr<arrow::Schema> OutputSchemas::of(const std::string& giver, const void* owner) {
  auto schema = of(giver);
  if (owner == nullptr || (!schema && !of_owners_.contains(owner))) return schema;
  return of_owners_.emplace(owner, std::move(schema)).first->second;
}

void OutputSchemas::set(const std::string& giver, std::shared_ptr<arrow::Schema> schema) {
  std::erase_if(decided_, [&](const Decided& one) { return one.giver == giver; });
  decided_.push_front({giver, std::move(schema)});
  if (decided_.size() > givers_max) decided_.pop_back();
}

void OutputSchemas::await(const std::string& giver) {
  if (!of(giver)) deciding_.insert(giver);
}

}  // namespace headway::flow
