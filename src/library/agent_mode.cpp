#include "library/agent_mode.hpp"

#include "cluster/agent_process.hpp"
#include "core/json.hpp"
#include "library/start_options.hpp"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <unistd.h>

namespace headway::library {
namespace {

constexpr const char* usage =
    "its arguments are --join HOST:PORT, --token-file PATH, --num-cpus N, --num-gpus N, --resources JSON, --labels "
    "JSON and --grace-s SECONDS";

/// What the command line says.
struct Order {
  cluster::AgentProcessConfig config;
  std::string token_file = default_token_file();
  std::optional<double> num_cpus;
  std::optional<double> num_gpus;
  Resources resources;
  Labels labels;
};

Error refused(const std::string& name, const std::string& value) {
  return {ErrorKind::invalid_argument, name + " is \"" + value + "\"; " + usage};
}

Result<double> amount(const std::string& name, const std::string& value) {
  double number = -1;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (failure != std::errc() || end != value.data() + value.size() || !(number >= 0 && number < 1e9)) {
    return refused(name, value);
  }
  return number;
}

template <class T>
Result<void> put(const Result<T>& value, auto& place) {
  if (!value) return value.error();
  place = *value;
  return {};
}

Result<void> take(Order& order, const std::string& name, const std::string& value) {
  if (name == "--join") return put(cluster::parse_endpoint(name, value), order.config.driver);
  if (name == "--num-cpus") return put(amount(name, value), order.num_cpus);
  if (name == "--num-gpus") return put(amount(name, value), order.num_gpus);
  if (name == "--grace-s") return put(amount(name, value), order.config.grace_s);
  if (name == "--resources") return put(from_json_text<Resources>(value, name), order.resources);
  if (name == "--labels") return put(from_json_text<Labels>(value, name), order.labels);
  if (name != "--token-file") return Error{ErrorKind::invalid_argument, name + " is unknown; " + usage};
  order.token_file = value;
  return {};
}

Result<Order> read(const std::vector<std::string>& arguments) {
  Order order;
  for (std::size_t index = 2; index < arguments.size(); index += 2) {
    if (index + 1 == arguments.size()) return refused(arguments[index], "");
    if (auto taken = take(order, arguments[index], arguments[index + 1]); !taken) return taken.error();
  }
  if (order.config.driver.host.empty()) return refused("--join", "");
  if (auto able = cluster::check_available(); !able) return able.error();
  const Result<std::string> token = read_token("--token-file", order.token_file);
  if (!token) return token.error();
  order.config.token = *token;
  return order;
}

}  // namespace

std::vector<std::string> agent_command() {
  std::error_code failure;
  return {std::filesystem::read_symlink("/proc/self/exe", failure).string(), agent_argument};
}

void serve_as_agent(const std::vector<std::string>& arguments, node::FactoryConfig factory) {
  Result<Order> order = read(arguments);
  if (!order) {
    std::fprintf(stderr, "headway-agent: %s\n", order.error().message.c_str());
    _exit(2);
  }
  order->config.factory = std::move(factory);
  order->config.node = node::detect_resources(order->num_cpus, order->num_gpus, order->resources, order->labels);
  switch (cluster::AgentProcess::run(std::move(order->config))) {
    case cluster::AgentProcess::End::dismissed:
    case cluster::AgentProcess::End::left: _exit(0);
    case cluster::AgentProcess::End::refused: _exit(2);
    case cluster::AgentProcess::End::lost: break;
  }
  _exit(3);
}

}  // namespace headway::library
