#include "engine/bridge_provider.hpp"

#include "core/terminal_text.hpp"
#include "core/text.hpp"
#include "engine/bridge_messages.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>

namespace headway::engine {

namespace asio = boost::asio;

namespace {

std::string new_provider_id() {
  std::random_device random;
  std::array<char, 9> text{};
  std::snprintf(text.data(), text.size(), "%08x", random());
  return text.data();
}

}  // namespace

BridgeProvider::BridgeProvider(BridgeConfig config, Settings settings)
    : config_(std::move(config)), settings_(settings), id_(new_provider_id()) {}

/// The loop has stopped.
BridgeProvider::~BridgeProvider() {
  if (process_) process_->leave(settings_.end_limit);
}

void BridgeProvider::open(Site site) {
  restart_.emplace(site.loop);
  pings_.emplace(site.loop);
  site_.emplace(std::move(site));
  start();
}

template <class M>
void BridgeProvider::say(const M& message) {
  if (!process_) return;
  if (process_->write(to_json_text(message))) return;
  tell("The bridge to " + config_.engine + " reads nothing any more");
  process_->kill();
}

void BridgeProvider::tell(const std::string& text) {
  constexpr std::size_t remembered_max = 32;
  if (std::find(told_.begin(), told_.end(), text) != told_.end()) return;
  told_.push_back(text);
  if (told_.size() > remembered_max) told_.pop_front();
  site_->warn(text);
}

void BridgeProvider::start() {
  const auto heard = [this, here = std::weak_ptr(alive_)](void (BridgeProvider::*hear)(const std::string&)) {
    return [this, here, hear](const std::string& line) {
      if (here.lock()) (this->*hear)(line);
    };
  };
  BridgeProcess::Ears ears{heard(&BridgeProvider::hear), heard(&BridgeProvider::hear_error), nullptr};
  ears.ended = [this, here = std::weak_ptr(alive_)](const std::string& how) {
    if (here.lock()) start_later("has ended " + how);
  };
  started_ = std::chrono::steady_clock::now();
  unanswered_ = 0;
  error_lines_ = 0;
  auto process = BridgeProcess::start(site_->loop, config_.command, config_.env, std::move(ears));
  if (!process) return start_later("cannot be started: " + process.error().message);
  process_ = std::move(*process);
  say(BridgeOpen{"open", 1, config_.engine, id_, site_->join.address, config_.token_file, site_->join.token,
                 config_.lease_s, config_.options});
  for (const auto& [node_id, own] : own_) {
    say(BridgeNode{"joined", own.allocation, node_id});
    if (own.given_back) say(BridgeNode{"give_back", own.allocation, node_id});
  }
  if (wanted_ != Demand()) say(to_want(wanted_));
  ping_later();
}

void BridgeProvider::start_later(const std::string& why) {
  pings_->cancel();
  // Not at once: the process may be what calls this.
  if (process_) asio::post(site_->loop, [gone = std::exchange(process_, nullptr)] {});
  const bool lived = std::chrono::steady_clock::now() - started_ >= settings_.pause_max;
  pause_ = lived || pause_.count() == 0 ? settings_.pause_first : std::min(2 * pause_, settings_.pause_max);
  tell("The bridge to " + config_.engine + " " + why + "; it is started again, and nodes that have joined go on");
  restart_->expires_after(pause_);
  restart_->async_wait([this, here = std::weak_ptr(alive_)](const boost::system::error_code& failure) {
    if (!failure && here.lock()) start();
  });
}

void BridgeProvider::hear(const std::string& line) {
  const Result<BridgeSays> says = to_says(line);
  if (!says) return tell("The bridge to " + config_.engine + ": " + says.error().message);
  unanswered_ = 0;
  if (says->text) tell(*says->text);
}

/// Libraries that a bridge uses write here what they like.
void BridgeProvider::hear_error(const std::string& line) {
  constexpr int lines_max = 20;
  constexpr std::size_t columns_max = 500;
  const std::string shown = cut_to(without_escapes(to_utf8(line)), columns_max);
  if (trimmed(shown).empty() || ++error_lines_ > lines_max) return;
  tell("(bridge to " + config_.engine + ") " + shown + (error_lines_ == lines_max ? " ... more is not shown" : ""));
}

void BridgeProvider::ping_later() {
  pings_->expires_after(settings_.ping_pause);
  pings_->async_wait([this, here = std::weak_ptr(alive_)](const boost::system::error_code& failure) {
    if (!failure && here.lock() && process_) ping();
  });
}

/// Pings are counted, not seconds: this process may have been stopped as well.
void BridgeProvider::ping() {
  constexpr int unanswered_max = 3;
  if (unanswered_ >= unanswered_max) {
    tell("The bridge to " + config_.engine + " does not answer; it is ended");
    return process_->kill();
  }
  ++unanswered_;
  say(BridgeVerb{"ping"});
  ping_later();
}

void BridgeProvider::want(const Demand& demand) {
  if (demand.is_empty()) told_.clear();
  wanted_ = demand;
  say(to_want(demand));
}

bool BridgeProvider::joined(const node::NodeResources& node) {
  const auto provider = node.labels.find(provider_label);
  const auto allocation = node.labels.find(allocation_label);
  if (provider == node.labels.end() || provider->second != id_ || allocation == node.labels.end()) return false;
  own_[node.node_id] = {allocation->second};
  say(BridgeNode{"joined", allocation->second, node.node_id});
  return true;
}

void BridgeProvider::give_back(const std::string& node_id) {
  const auto own = own_.find(node_id);
  if (own == own_.end() || std::exchange(own->second.given_back, true)) return;
  say(BridgeNode{"give_back", own->second.allocation, node_id});
}

void BridgeProvider::left(const std::string& node_id) {
  const auto own = own_.find(node_id);
  if (own == own_.end()) return;
  say(BridgeNode{"left", own->second.allocation, node_id});
  own_.erase(own);
}

void BridgeProvider::close() {
  alive_.reset();
  restart_->cancel();
  pings_->cancel();
  say(BridgeVerb{"close"});
  if (process_) process_->deafen();
}

}  // namespace headway::engine
