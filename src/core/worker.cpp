#include "core/worker.hpp"

#include <array>
#include <utility>

namespace headway {
namespace {

// The numbers are Linux's on x86-64 and arm64; <csignal> would bring the system in here.
constexpr std::array<std::pair<int, const char*>, 21> signal_names{
    {{1, "SIGHUP"},   {2, "SIGINT"},   {3, "SIGQUIT"},  {4, "SIGILL"},   {5, "SIGTRAP"},  {6, "SIGABRT"},
     {7, "SIGBUS"},   {8, "SIGFPE"},   {9, "SIGKILL"},  {10, "SIGUSR1"}, {11, "SIGSEGV"}, {12, "SIGUSR2"},
     {13, "SIGPIPE"}, {14, "SIGALRM"}, {15, "SIGTERM"}, {24, "SIGXCPU"}, {25, "SIGXFSZ"}, {26, "SIGVTALRM"},
     {27, "SIGPROF"}, {29, "SIGIO"},   {31, "SIGSYS"}}};

const char* signal_name(int number) {
  for (const auto& [known, name] : signal_names) {
    if (known == number) return name;
  }
  return nullptr;
}

std::string signal_text(int number) {
  const char* name = signal_name(number);
  if (name == nullptr) return "signal " + std::to_string(number);
  return std::string(name) + " (signal " + std::to_string(number) + ")";
}

/// A code above 128 is how programs that end themselves on a signal tell of it.
std::string code_text(int code) {
  const char* name = signal_name(code - 128);
  return std::to_string(code) + (name != nullptr ? std::string(" (") + name + ")" : "");
}

}  // namespace

std::string to_text(const ExitStatus& status) {
  std::string text =
      status.signaled ? "was killed by " + signal_text(status.code) : "exited with code " + code_text(status.code);
  if (!status.detail.empty()) text += ": " + status.detail;
  return text;
}

std::string to_text(const RankError& error) {
  return error.message.empty() ? error.type : error.type + ": " + error.message;
}

}  // namespace headway
