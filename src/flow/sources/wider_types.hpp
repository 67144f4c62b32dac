#pragma once

#include <arrow/type_fwd.h>

#include <list>
#include <memory>
#include <mutex>
#include <string>

namespace headway::flow {

/// Types that columns of files need beside those that samples have shown: integers in the samples,
/// and a fraction far behind them. Kept by the read and its files, so that stages that are made
/// again, and later epochs, read all rows with these types. Any thread.
class WiderTypes {
 public:
  /// What `add` was given for the source, all together; null: nothing.
  std::shared_ptr<arrow::Schema> find(const std::string& source);
  void add(const std::string& source, const std::shared_ptr<arrow::Schema>& schema);

 private:
  struct Known {
    std::string source;
    std::shared_ptr<arrow::Schema> schema;
  };

  std::mutex mutex_;
  std::list<Known> known_;  ///< The one that was used last comes first.
};

}  // namespace headway::flow
