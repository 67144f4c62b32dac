#include "driver/run_folder.hpp"

#include "storage/storage.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headway::driver {
namespace {

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string local_date(double unix_s) {
  const std::time_t seconds = static_cast<std::time_t>(unix_s);
  std::tm local{};
  localtime_r(&seconds, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d_%H-%M-%S", &local);
  return text.data();
}

}  // namespace

JsonObject result_line(const control::ReportLine& line, const std::string& trial_id) {
  const double now = unix_seconds();
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
  object["trial_id"] = trial_id;
  object["done"] = false;
  // A metric of the user's wins over an automatic one of its name; only what tells reports apart is ours alone.
  for (const auto& metric : line.metrics) object[metric.key()] = metric.value();
  object["attempt"] = line.attempt;
  object["report_index"] = line.index;
  if (line.checkpoint) object["checkpoint_dir_name"] = *line.checkpoint;
  return object;
}

RunFolder::~RunFolder() {
  if (result_fd_ >= 0) close(result_fd_);
}

Result<void> RunFolder::prepare(const JsonObject& config) {
  struct stat found{};
  if (stat((path_ + "/run.json").c_str(), &found) == 0) {
    return Error{ErrorKind::already_exists,
                 "there is already a run in " + path_ +
                     "; choose another RunConfig.name or storage_path, or remove that folder"};
  }
  if (auto ok = storage::probe(path_); !ok) return ok;
  if (mkdir((path_ + "/logs").c_str(), 0755) != 0 && errno != EEXIST) {
    return Error{ErrorKind::unavailable, "cannot make " + path_ + "/logs: " + std::strerror(errno)};
  }
  return storage::replace_file(path_ + "/params.json", json_text(config) + "\n");
}

Result<void> RunFolder::append(const std::string& line) {
  const std::string path = path_ + "/result.json";
  const auto failed = [&] {
    return Error{ErrorKind::unavailable, "cannot write " + path + ": " + std::strerror(errno)};
  };
  if (result_fd_ < 0) result_fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (result_fd_ < 0) return failed();
  const std::string text = line + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(result_fd_, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return failed();
    done += static_cast<std::size_t>(written);
  }
  return {};
}

Result<void> RunFolder::write_journal(JsonObject snapshot) {
  snapshot["version"] = 1;
  snapshot["written_unix_s"] = unix_seconds();
  return storage::replace_file(path_ + "/run.json", json_text(snapshot) + "\n");
}

}  // namespace headway::driver
