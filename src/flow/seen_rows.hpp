#pragma once

#include <arrow/type_fwd.h>

#include <list>
#include <memory>
#include <mutex>
#include <string>

namespace headway::flow {

/// What rows have shown that was not known before them, by who gives them: a read and its files, or
/// a step of a plan. Stages that are made again, and later epochs, have it from the first row on.
/// Any thread.
class SeenRows {
 public:
  /// Types that columns need beside those that are known without all rows: integers in a file's
  /// sample, and a fraction far behind it. What `add_types` was given, all together; null: nothing.
  std::shared_ptr<arrow::Schema> types(const std::string& giver);
  void add_types(const std::string& giver, const std::shared_ptr<arrow::Schema>& schema);

  /// Whether rows were too large for DuckDB's memory; see `WholeSpec::rows_are_large`.
  bool are_large(const std::string& giver);
  void set_large(const std::string& giver);

 private:
  struct Known {
    std::string giver;
    std::shared_ptr<arrow::Schema> types = nullptr;
    bool are_large = false;
  };

  /// With the mutex held; null: nothing is known.
  Known* find(const std::string& giver);
  Known& found_or_new(const std::string& giver);

  std::mutex mutex_;
  std::list<Known> known_;  ///< The one that was used last comes first.
};

/// Those of one giver.
struct SeenAt {
  std::shared_ptr<SeenRows> rows;
  std::string giver;
};

}  // namespace headway::flow
