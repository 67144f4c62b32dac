#include "driver/result_line.hpp"

#include <array>
#include <ctime>

namespace headway::driver {
namespace {

std::string local_date(double unix_s) {
  const std::time_t seconds = static_cast<std::time_t>(unix_s);
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d_%H-%M-%S", &local);
  return text.data();
}

}  // namespace

JsonObject result_line(const ReportLine& line, double now) {
  JsonObject object;
  // A metric of the user's wins over an automatic one of its name.
  const auto put = [&](std::string_view name, Json value) {
    if (!line.metrics.contains(name)) object[name] = std::move(value);
  };
  put("training_iteration", line.iteration);
  put("iterations_since_restore", line.iterations_since_restore);
  put("time_this_iter_s", line.time_this_iter_s);
  put("time_total_s", line.time_total_s);
  put("time_since_restore", line.time_since_restore_s);
  put("timestamp", static_cast<std::int64_t>(now));
  put("date", Json(boost::json::string(local_date(now))));
  put("pid", line.pid);
  put("hostname", Json(boost::json::string(line.hostname)));
  put("node_ip", Json(boost::json::string(line.node_ip)));
  put("trial_id", Json(boost::json::string(line.trial_id)));
  put("done", false);
  // What tells reports apart is the run's alone. The user's metrics come behind it: that is how
  // they are told from automatic ones of the same name.
  if (line.checkpoint) object["checkpoint_dir_name"] = *line.checkpoint;
  object["attempt"] = line.attempt;
  object["report_index"] = line.index;
  for (const auto& metric : line.metrics) {
    const std::string_view name = metric.key();
    const bool is_ours =
        name == "attempt" || name == "report_index" || (name == "checkpoint_dir_name" && line.checkpoint);
    if (!is_ours) object[name] = metric.value();
  }
  return object;
}

}  // namespace headway::driver
