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
  object["training_iteration"] = line.iteration;
  object["iterations_since_restore"] = line.iterations_since_restore;
  object["time_this_iter_s"] = line.time_this_iter_s;
  object["time_total_s"] = line.time_total_s;
  object["time_since_restore"] = line.time_since_restore_s;
  object["timestamp"] = static_cast<std::int64_t>(now);
  object["date"] = local_date(now);
  object["pid"] = line.pid;
  object["hostname"] = line.hostname;
  object["node_ip"] = line.node_ip;
  object["trial_id"] = line.trial_id;
  object["done"] = false;
  // A metric of the user's wins over an automatic one of its name; only what tells reports apart is ours alone.
  for (const auto& metric : line.metrics) object[metric.key()] = metric.value();
  object["attempt"] = line.attempt;
  object["report_index"] = line.index;
  if (line.checkpoint) object["checkpoint_dir_name"] = *line.checkpoint;
  return object;
}

}  // namespace headway::driver
