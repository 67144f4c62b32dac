#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headway::dashboard {

/// A run or an experiment as the page's lists show it, as JSON. One that has not changed is the
/// same object in the next overview.
struct Part {
  std::string id;
  std::string text;
};

/// All that the page's first view shows, as JSON. Immutable.
struct Overview {
  std::int64_t number = 0;  ///< Counts up with each that is published.
  double taken_unix_s = 0;
  std::string mode;    ///< JSON: where the facts come from.
  std::string driver;  ///< JSON: which process it is; null when there is none.
  std::vector<std::shared_ptr<const Part>> runs;
  std::vector<std::shared_ptr<const Part>> experiments;
  std::string nodes = "[]";    ///< JSON.
  std::string waiting = "[]";  ///< JSON.

  /// What /api/state answers.
  std::string text() const;
  /// What has changed since an earlier one: lists of runs and experiments have those that are new
  /// or different alone, and `gone` the ids of those that are there no longer.
  std::string changes_since(const Overview& before) const;
  /// Whether it shows anything that `before` does not.
  bool is_news_after(const Overview& before) const;
};

}  // namespace headway::dashboard
