#pragma once

#include "core/json.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace headway {

/// One accepted report. Written to result.json with the automatic metrics beside the user's.
struct ReportLine {
  std::int64_t index = 0;  ///< Within the attempt, from 0.
  int attempt = 1;
  std::int64_t iteration = 0;  ///< Over all attempts, from 1.
  std::int64_t iterations_since_restore = 0;
  double time_this_iter_s = 0;
  double time_total_s = 0;  ///< Over all drivers of the run, without the time between them.
  double time_since_restore_s = 0;
  std::int64_t pid = 0;  ///< Rank 0's.
  std::string hostname;
  std::string node_ip;
  std::string trial_id;
  std::optional<std::string> checkpoint;  ///< The committed checkpoint's name.
  JsonObject metrics;                     ///< Rank 0's own.
};
BOOST_DESCRIBE_STRUCT(ReportLine, (),
                      (index, attempt, iteration, iterations_since_restore, time_this_iter_s, time_total_s,
                       time_since_restore_s, pid, hostname, node_ip, trial_id, checkpoint, metrics))

}  // namespace headway
