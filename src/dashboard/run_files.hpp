#pragma once

#include "control/data_watch.hpp"
#include "control/run_view.hpp"
#include "dashboard/growing_file.hpp"
#include "dashboard/run_record.hpp"
#include "dashboard/series.hpp"

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace headway::dashboard {

/// What a run's files tell beside its view: reports and history, read as they grow. Any thread.
class RunFiles {
 public:
  explicit RunFiles(const std::string& folder);

  /// Calls `look` with what the files have by now, while no other thread reads them.
  template <class Look>
  auto with(const Look& look) {
    const std::lock_guard lock(mutex_);
    refresh();
    return look(record_, series_);
  }

 private:
  void refresh();

  std::mutex mutex_;
  GrowingFile results_;
  GrowingFile history_;
  Series series_;
  RunRecord record_;
};

/// Those that were looked at last. Any thread.
class RunShelf {
 public:
  static constexpr std::size_t kept_max = 16;

  std::shared_ptr<RunFiles> of(const std::string& folder);

 private:
  std::mutex mutex_;
  std::list<std::pair<std::string, std::shared_ptr<RunFiles>>> files_;  ///< The last used first.
};

/// "rank 5 is in read_shard() at reader.py:57": where the first rank is that is waited for, as the
/// hang watch saw it last in this attempt. Empty: it has not looked.
std::string place_of_awaited(RunFiles& files, const control::RunView& view);

/// What the first and the last lines of a run's history tell; of a run of some hours that is all of
/// it. Costs the same however long the run was.
RunRecord history_ends_in(const std::string& folder);

/// data_waits.json; unset when there is none.
std::optional<control::DataTimes> data_times_in(const std::string& folder);

}  // namespace headway::dashboard
