#pragma once

#include "engine/engine.hpp"
#include "engine/wanted_text.hpp"
#include "node/host_link.hpp"

#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace headway::engine {

/// The host's engine, as a runtime inside one of its workers sees it: one ledger for both, so that
/// no CPU and no GPU is given out twice.
class HostedEngine : public Engine {
 public:
  explicit HostedEngine(std::unique_ptr<node::HostLink> host) : host_(std::move(host)) {
    host_->on_granted = [this](wire::HostGranted granted) {
      answer(granted.holder, Grant{std::move(granted.slots), std::move(granted.warnings)});
    };
    host_->on_pending = [this](const wire::HostPending& pending) {
      const auto waiting = waiting_.find(pending.holder);
      if (waiting != waiting_.end() && waiting->second.answers.pending) {
        waiting->second.answers.pending(pending.reason);
      }
    };
    host_->on_refused = [this](const wire::HostRefused& refused) {
      answer(refused.holder, Error{ErrorKind::invalid_argument, refused.reason});
    };
    host_->on_ended = [this](const Error& error) {
      ended_ = Error{ErrorKind::unavailable, "the connection to the driver broke: " + error.message};
      for (auto& [holder, request] : std::exchange(waiting_, {})) request.answers.granted(*ended_);
    };
  }

  void acquire(std::int64_t holder, const Wanted& wanted, Answers answers) override {
    release(holder);
    if (ended_) return answers.granted(*ended_);
    waiting_[holder] = {std::move(answers), to_text(wanted)};
    const WorkerClaim& claim = wanted.claim;
    host_->send(wire::GuestAcquire{holder, wanted.workers_min, wanted.workers_max, claim.hard, claim.advised_cpus,
                                   claim.selectors, std::string(to_text(wanted.placement)), wanted.beside});
  }
  void release(std::int64_t holder) override {
    waiting_.erase(holder);
    host_->send(wire::GuestRelease{holder});
  }
  /// A group within a validation keeps the size that it has.
  int possible(std::int64_t, const Wanted&) const override { return 0; }
  /// The host says so when it is asked for it.
  Result<void> check_possible(const Wanted&) const override { return {}; }
  EngineView view() const override {
    EngineView view;
    view.waiting_count = static_cast<std::int64_t>(waiting_.size());
    for (const auto& [holder, request] : waiting_) {
      if (view.waiting.size() < EngineView::waiting_max) view.waiting.push_back({holder, request.wanted, false});
    }
    return view;
  }
  Resources total() const override { return host_->total(); }
  Resources available() const override { return host_->available(); }

  // Nodes are the host's business.
  void add(node::NodeResources) override {}
  void remove(const std::string&) override {}
  void drain(const std::string&) override {}
  std::vector<node::NodeResources> nodes() const override { return {}; }
  void on_change(std::function<void()>) override {}
  void close() override { host_->close(); }

 private:
  void answer(std::int64_t holder, Result<Grant> grant) {
    const auto node = waiting_.extract(holder);
    if (!node.empty()) node.mapped().answers.granted(std::move(grant));
  }

  std::unique_ptr<node::HostLink> host_;
  struct Request {
    Answers answers;
    std::string wanted;
  };

  std::map<std::int64_t, Request> waiting_;
  std::optional<Error> ended_;  ///< Why the host answers nothing any more.
};

}  // namespace headway::engine
