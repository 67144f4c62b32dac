#pragma once

#include <arrow/type_fwd.h>

#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace headway::flow {

/// The schemas of a function's outputs: one for each giver of the rows that it is called with, as
/// data sets may share its workers. One thread at a time.
class OutputSchemas {
 public:
  /// `known`: of all outputs, where it is known before them; else null.
  explicit OutputSchemas(std::shared_ptr<arrow::Schema> known = nullptr) : known_(std::move(known)) {}

  /// Null before the first output.
  std::shared_ptr<arrow::Schema> of(const std::string& giver) const;
  /// As it was when the owner, who has rows of one giver, first asked; without an owner as it is.
  std::shared_ptr<arrow::Schema> of(const std::string& giver, const void* owner);
  void set(const std::string& giver, std::shared_ptr<arrow::Schema> schema);
  void forget(const void* owner) { of_owners_.erase(owner); }

  /// Whether a call under way decides the schema, for which others wait, and has not yet.
  bool is_awaited(const std::string& giver) const { return deciding_.contains(giver) && !of(giver); }
  void await(const std::string& giver);
  void end_await(const std::string& giver) { deciding_.erase(giver); }

 private:
  struct Decided {
    std::string giver;
    std::shared_ptr<arrow::Schema> schema;
  };

  const std::shared_ptr<arrow::Schema> known_;
  std::list<Decided> decided_;  ///< The one that was set last comes first.
  std::map<const void*, std::shared_ptr<arrow::Schema>> of_owners_;
  std::set<std::string> deciding_;
};

}  // namespace headway::flow
