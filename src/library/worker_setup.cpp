#include "library/worker_setup.hpp"

#include "core/environment.hpp"
#include "library/worker_bridge.hpp"
#include "node/node_agent.hpp"
#include "worker/working_directory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace headway::library {
namespace {

/// Each byte becomes the character of its number, as UTF-8.
std::string to_text(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x80) {
      text += byte;
    } else {
      text += static_cast<char>(0xC0 | (code >> 6));
      text += static_cast<char>(0x80 | (code & 0x3F));
    }
  }
  return text;
}

std::string to_bytes(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = static_cast<unsigned char>(text[i]);
    if (code < 0x80 || i + 1 == text.size()) {
      bytes += text[i];
    } else {
      bytes += static_cast<char>(((code & 0x03) << 6) | (static_cast<unsigned char>(text[++i]) & 0x3F));
    }
  }
  return bytes;
}

std::string name_of(std::string_view entry) { return std::string(entry.substr(0, entry.find('='))); }

}  // namespace

JsonObject worker_setup() {
  JsonArray environment;
  const std::vector<std::string> own = own_variables();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name = name_of(*entry);
    if (tells_of_a_task(name) || std::find(own.begin(), own.end(), name) != own.end()) continue;
    environment.emplace_back(to_text(*entry));
  }
  std::error_code failure;
  const std::string directory = std::filesystem::current_path(failure).string();
  return {{"env", std::move(environment)}, {"cwd", to_text(directory)}};
}

void apply_worker_setup(const JsonObject& setup) {
  const char* gpus = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string visible = gpus == nullptr ? "" : gpus;
  const char* scratch = std::getenv(node::scratch_variable);
  const std::string temporary = scratch == nullptr ? "" : scratch;
  clearenv();
  for (const Json& entry : setup.at("env").as_array()) {
    const std::string text = to_bytes(entry.as_string());
    const std::string name = name_of(text);
    if (name.size() < text.size()) setenv(name.c_str(), text.c_str() + name.size() + 1, 1);
  }
  setenv("CUDA_VISIBLE_DEVICES", visible.c_str(), 1);
  if (!temporary.empty() && worker::make_temporary_directory(temporary)) {
    const char* of_machine = std::getenv("TMPDIR");
    setenv("HEADWAY_MACHINE_TMPDIR", of_machine == nullptr ? "/tmp" : of_machine, 1);
    setenv("TMPDIR", temporary.c_str(), 1);
  }
  const std::string directory = to_bytes(setup.at("cwd").as_string());
  if (chdir(directory.c_str()) != 0) {
    std::fprintf(stderr, "the driver's working directory cannot be entered: %s\n", std::strerror(errno));
  }
}

}  // namespace headway::library
