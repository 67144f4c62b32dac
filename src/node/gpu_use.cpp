#include "node/gpu_use.hpp"

#include "core/text.hpp"
#include "node/process.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <fcntl.h>
#include <ranges>
#include <unistd.h>
#include <utility>

namespace headway::node {
namespace {

constexpr std::size_t line_max = 4096;
/// It tells each five seconds; what is older is not known any more.
constexpr auto stale = std::chrono::seconds(30);

std::optional<double> number_in(std::string_view text) {
  double number = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || stop != text.data() + text.size()) return std::nullopt;  // "[N/A]"
  return number;
}

}  // namespace

std::optional<GpuUse> parse_gpu_line(std::string_view line) {
  // A name may have commas: the numbers stand around it.
  std::array<std::string_view, 3> numbers;
  std::string_view rest = line;
  for (std::string_view& cell : std::views::reverse(numbers)) {
    const std::size_t comma = rest.rfind(',');
    if (comma == std::string_view::npos) return std::nullopt;
    cell = trimmed(rest.substr(comma + 1));
    rest = rest.substr(0, comma);
  }
  const std::size_t comma = rest.find(',');
  if (comma == std::string_view::npos) return std::nullopt;
  const auto index = number_in(trimmed(rest.substr(0, comma)));
  const std::string_view name = trimmed(rest.substr(comma + 1));
  constexpr double index_max = 1024;
  if (!index || *index < 0 || *index > index_max || name.empty()) return std::nullopt;
  constexpr double mebibyte = 1 << 20;
  GpuUse use{static_cast<int>(*index), std::string(name), number_in(numbers[0]), number_in(numbers[1]),
             number_in(numbers[2])};
  if (use.share) *use.share = std::clamp(*use.share / 100, 0.0, 1.0);
  if (use.memory_bytes) *use.memory_bytes *= mebibyte;
  if (use.memory_total_bytes) *use.memory_total_bytes *= mebibyte;
  return use;
}

GpuWatch::~GpuWatch() { end(""); }

const std::vector<GpuUse>& GpuWatch::look(std::chrono::steady_clock::time_point now) {
  if (!std::exchange(begun_, true)) {
    start();
    told_at_ = now;
  }
  if (output_.is_open() && read()) told_at_ = now;
  if (output_.is_open() && now - told_at_ > stale) {
    gpus_.clear();
    why_none_ = program_ + " does not answer";
  }
  return gpus_;
}

void GpuWatch::start() {
  if (program_on_path(program_).empty()) {
    why_none_ = program_ + " is not on the PATH";
    return;
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    why_none_ = "no pipe can be made";
    return;
  }
  output_ = wire::Fd(ends[0]);
  const wire::Fd written(ends[1]);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  ProcessLaunch launch;
  launch.command = {program_, "--query-gpu=index,name,utilization.gpu,memory.used,memory.total",
                    "--format=csv,noheader,nounits", "--loop=5"};
  launch.output_fd = written.get();
  const Result<pid_t> pid = launch_process(launch);
  if (!pid) return end(pid.error().message);
  pid_ = *pid;
}

/// Whether it has told anything.
bool GpuWatch::read() {
  std::array<char, 4096> bytes{};
  ssize_t count = 0;
  bool any = false;
  // More than it says in five seconds; the rest is left to the next look.
  constexpr int reads_max = 16;
  for (int reads = 0; reads < reads_max && (count = ::read(output_.get(), bytes.data(), bytes.size())) > 0; ++reads) {
    any = true;
    text_.append(bytes.data(), static_cast<std::size_t>(count));
    std::size_t line_end = 0;
    while ((line_end = text_.find('\n')) != std::string::npos) {
      if (auto use = parse_gpu_line(std::string_view(text_).substr(0, line_end))) {
        why_none_.clear();
        const auto found = std::ranges::lower_bound(gpus_, use->index, {}, &GpuUse::index);
        if (found != gpus_.end() && found->index == use->index) {
          *found = std::move(*use);
        } else {
          gpus_.insert(found, std::move(*use));
        }
      } else {
        why_none_ = program_ + " says: " + text_.substr(0, std::min<std::size_t>(line_end, 200));
      }
      text_.erase(0, line_end + 1);
    }
    if (text_.size() > line_max) text_.clear();
  }
  if (count == 0) end(why_none_.empty() ? program_ + " has ended" : why_none_);
  return any;
}

void GpuWatch::end(std::string why) {
  output_.close();
  gpus_.clear();
  why_none_ = std::move(why);
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  // Where a device driver holds it, it is left to the system.
  reap_within(pid_, std::chrono::milliseconds(100));
  pid_ = -1;
}

}  // namespace headway::node
