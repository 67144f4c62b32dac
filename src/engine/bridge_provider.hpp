#pragma once

#include "core/json.hpp"
#include "engine/bridge_process.hpp"
#include "engine/node_provider.hpp"

#include <chrono>
#include <deque>
#include <map>
#include <optional>
#include <set>

namespace headway::engine {

/// Labels that a bridge gives the agents that it starts: whose they are, and which of them.
inline constexpr const char* provider_label = "headway.io/provider";
inline constexpr const char* allocation_label = "headway.io/allocation";

/// Which engine gives nodes, and how its bridge is started.
struct BridgeConfig {
  std::string engine;                      ///< "slurm".
  std::vector<std::string> command;        ///< Starts the bridge.
  std::map<std::string, std::string> env;  ///< In addition to this process's.
  std::string token_file;                  ///< That agents read.
  double lease_s = 10;
  JsonObject options;  ///< Of the engine; checked by who has made them.
};

/// Nodes from Ray, Slurm, Kubernetes and the like, by a bridge: a program that knows one of them,
/// and speaks with this process in lines (bridge_messages.hpp). It ends when this process does, and
/// gives back everything. A bridge that dies, or that answers nothing, is started again, and finds
/// what the former one has left by the provider's name. The nodes that are connected go on
/// meanwhile.
class BridgeProvider : public NodeProvider {
 public:
  struct Settings {
    /// Before it is started again; doubles each time.
    std::chrono::milliseconds pause_first{1000};
    std::chrono::milliseconds pause_max{60000};
    /// After three pings without an answer it is ended.
    std::chrono::milliseconds ping_pause{10000};
    std::chrono::milliseconds end_limit{10000};  ///< What it may take to give everything back.
  };

  explicit BridgeProvider(BridgeConfig config) : BridgeProvider(std::move(config), Settings()) {}
  BridgeProvider(BridgeConfig config, Settings settings);
  ~BridgeProvider() override;

  void open(Site site) override;
  void want(const Demand& demand) override;
  void give_back(const std::string& node_id) override;
  bool joined(const node::NodeResources& node) override;
  void left(const std::string& node_id) override;
  void close() override;

 private:
  struct Own {
    std::string allocation;
    bool given_back = false;
  };

  void start();
  void start_later(const std::string& why);
  void hear(const std::string& line);
  void hear_error(const std::string& line);
  void ping_later();
  void ping();
  template <class M>
  void say(const M& message);
  /// Shown to the user, once as long as the demand stands.
  void tell(const std::string& text);

  BridgeConfig config_;
  Settings settings_;
  std::string id_;
  std::optional<Site> site_;
  std::optional<boost::asio::steady_timer> restart_;
  std::optional<boost::asio::steady_timer> pings_;
  std::shared_ptr<BridgeProcess> process_;
  Demand wanted_;
  std::map<std::string, Own> own_;  ///< By node.
  std::chrono::milliseconds pause_{0};
  std::chrono::steady_clock::time_point started_;
  int unanswered_ = 0;
  int error_lines_ = 0;
  std::deque<std::string> told_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  ///< Gone with this.
};

}  // namespace headway::engine
