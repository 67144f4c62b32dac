#include "core/worker.hpp"

#include <array>
#include <utility>

namespace headway {
namespace {

// The numbers are Linux's on x86-64 and arm64; <csignal> would bring the system in here.
constexpr std::array<std::pair<int, const char*>, 14> signal_names{{{1, "SIGHUP"},
                                                                    {2, "SIGINT"},
                                                                    {3, "SIGQUIT"},
                                                                    {4, "SIGILL"},
                                                                    {5, "SIGTRAP"},
                                                                    {6, "SIGABRT"},
                                                                    {7, "SIGBUS"},
                                                                    {8, "SIGFPE"},
                                                                    {9, "SIGKILL"},
                                                                    {11, "SIGSEGV"},
                                                                    {13, "SIGPIPE"},
                                                                    {14, "SIGALRM"},
                                                                    {15, "SIGTERM"},
                                                                    {31, "SIGSYS"}}};

std::string signal_text(int number) {
  for (const auto& [known, name] : signal_names) {
    if (known == number) return std::string(name) + " (signal " + std::to_string(number) + ")";
  }
  return "signal " + std::to_string(number);
}

}  // namespace

std::string to_text(const ExitStatus& status) {
  std::string text =
      status.signaled ? "was killed by " + signal_text(status.code) : "exited with code " + std::to_string(status.code);
  if (!status.detail.empty()) text += ": " + status.detail;
  return text;
}

}  // namespace headway
