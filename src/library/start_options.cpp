#include "library/start_options.hpp"

#include "core/text.hpp"
#include "library/engine_bridge.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

namespace headway::library {
namespace {

constexpr std::size_t token_min = 16;
constexpr std::size_t token_max = 4096;

Error refused(const std::string& what, const std::string& allowed) {
  return {ErrorKind::invalid_argument, what + "; allowed: " + allowed};
}

std::string new_token() {
  constexpr const char* digits = "0123456789abcdef";
  std::random_device random;
  std::string token(64, '0');
  for (char& digit : token) digit = digits[random() % 16];
  return token + "\n";
}

/// The token in a file, which is made with a new one when it is not there.
Result<std::string> make_token(const std::string& path) {
  std::error_code failure;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!std::filesystem::exists(folder, failure) && std::filesystem::create_directories(folder, failure)) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failure);
  }
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0 && errno != EEXIST) {
    return refused("token_file is \"" + path + "\", which cannot be made: " + std::strerror(errno), "a path");
  }
  if (file >= 0) {
    const std::string token = new_token();
    const bool is_written = write(file, token.data(), token.size()) == static_cast<ssize_t>(token.size());
    close(file);
    if (!is_written) return refused("token_file is \"" + path + "\", which cannot be written", "a path");
  }
  return read_token("token_file", path);
}

}  // namespace

std::string default_token_file() {
  const char* named = std::getenv("HEADWAY_TOKEN_FILE");
  if (named != nullptr && *named != '\0') return named;
  const char* home = std::getenv("HOME");
  return std::string(home == nullptr ? "/root" : home) + "/.headway/token";
}

Result<std::string> read_token(const std::string& argument, const std::string& path) {
  const std::string place = argument + " " + path;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return refused(place + " cannot be read: " + std::strerror(errno), "a copy of the driver's");
  struct stat found{};
  std::string token(token_max, '\0');
  const bool is_read = fstat(file, &found) == 0;
  std::size_t size = 0;
  for (ssize_t more = 1; is_read && more > 0 && size < token.size(); size += static_cast<std::size_t>(more)) {
    more = std::max<ssize_t>(0, read(file, token.data() + size, token.size() - size));
  }
  close(file);
  token.resize(size);
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return refused(place + " may be read by others", "mode 600 (chmod 600 " + path + ")");
  }
  Result<std::string> text(std::string(trimmed(token)));
  if (text->size() >= token_min) return text;
  return refused(place + " has " + std::to_string(text->size()) + " characters",
                 std::to_string(token_min) + " or more");
}

Result<driver::RuntimeConfig> with_options(driver::RuntimeConfig config, const StartOptions& options) {
  config.num_cpus = options.num_cpus;
  config.num_gpus = options.num_gpus;
  config.resources = options.resources;
  config.labels = options.labels;
  const bool is_listening = options.listen.has_value() || options.engine.has_value();
  if (options.token_file && (!is_listening || options.token_file->empty())) {
    return refused("token_file is \"" + *options.token_file + "\"" + (is_listening ? "" : " without listen"),
                   "unset, or a path beside listen or engine");
  }
  if (!(options.node_lease_s >= 1 && options.node_lease_s <= 3600)) {
    return refused("node_lease_s is " + std::to_string(options.node_lease_s), "seconds from 1 to 3600");
  }
  if (!is_listening) return config;
  if (auto able = cluster::check_available(); !able) return able.error();
  auto listen = cluster::parse_endpoint("listen", options.listen.value_or("0.0.0.0:0"));
  if (!listen) return listen.error();
  const std::string path = std::filesystem::absolute(options.token_file.value_or(default_token_file())).string();
  Result<std::string> token = make_token(path);
  if (!token) return token.error();
  config.join = cluster::JoinConfig{std::move(*listen), std::move(*token), options.node_lease_s};
  if (options.engine) {
    auto engine = find_engine(*options.engine, options.engine_options_json);
    if (!engine) return engine.error();
    config.idle_limit = from_seconds(engine->idle_s);
    config.bridge = engine::BridgeConfig{std::move(engine->name), std::move(engine->command), {}, path,
                                         options.node_lease_s,    std::move(engine->options)};
    if (!config.num_cpus) config.num_cpus = 0;
    if (!config.num_gpus) config.num_gpus = 0;
  }
  return config;
}

}  // namespace headway::library
