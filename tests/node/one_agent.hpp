#pragma once

#include "node/agent.hpp"

#include "node/process.hpp"
#include "node/scratch.hpp"
#include "node/words.hpp"

#include <boost/test/unit_test.hpp>

#include <functional>

/// The agent with a real factory and real workers: what they said and printed, and how they ended.
namespace headway::node {

/// An agent on a separate loop, with all that it reports kept in order.
struct OneAgent : AgentSink {
  explicit OneAgent(std::vector<std::string> factory = {HEADWAY_TEST_FACTORY}) {
    config = {HEADWAY_TEST_GUARD, std::move(factory), {}, ""};
    agent = std::make_unique<Agent>(loop, config, *this);
  }
  ~OneAgent() override {
    close();
    agent.reset();
    loop.restart();
    loop.run();
  }
  void close() {
    bool closed = false;
    loop.restart();
    agent->close([&] { closed = true; });
    run_until([&] { return closed; });
  }

  Result<void> worker_message(std::int64_t id, wire::Frame frame) override {
    const auto busy_until = std::chrono::steady_clock::now() + busy_with_each_message;
    while (std::chrono::steady_clock::now() < busy_until) {
    }
    note(id, "said", words_in(frame));
    return words_in(frame) == "nonsense" ? Result<void>(Error{ErrorKind::corrupted, "that makes no sense"})
                                         : Result<void>();
  }
  void worker_exited(std::int64_t id, const ExitStatus& status, const std::string& log_tail) override {
    tail = log_tail;
    note(id, "ended", to_text(status));
    if (on_end) on_end(id);
  }
  bool worker_line(std::int64_t id, std::string_view line) override {
    note(id, "printed", std::string(line));
    return --until_pause != 0;
  }
  void notice(const std::string& text) override { note(0, "notice", text); }
  void use_seen() override { note(0, "use", ""); }

  /// Starts a worker and gives it its first order.
  Result<void> start(std::int64_t id, const std::string& order, std::vector<std::string> preload = {},
                     std::map<std::string, std::string> env = {}) {
    return agent->start_worker({id, std::move(preload), std::move(env), scratch.path(std::to_string(id) + ".log")},
                               order_of(order));
  }
  void must_start(std::int64_t id, const std::string& order, std::vector<std::string> preload = {}) {
    const Result<void> started = start(id, order, std::move(preload));
    if (!started) BOOST_FAIL(started.error().message);
  }
  void tell(std::int64_t id, const std::string& order) { agent->send(id, order_of(order)); }

  void run_until(const std::function<bool()>& done) {
    while (!done()) loop.run_one();
  }
  std::vector<std::string> of(std::int64_t id, const std::string& kind) const {
    std::vector<std::string> texts;
    for (const Note& note : notes) {
      if (note.id == id && note.kind == kind) texts.push_back(note.text);
    }
    return texts;
  }
  std::string said(std::int64_t id, std::size_t n = 0) {
    run_until([&] { return of(id, "said").size() > n; });
    return of(id, "said")[n];
  }
  std::string ended(std::int64_t id) {
    run_until([&] { return !of(id, "ended").empty(); });
    BOOST_TEST(of(id, "ended").size() == 1U);
    return of(id, "ended")[0];
  }
  /// A worker's factory and the worker itself.
  std::pair<pid_t, pid_t> pids(std::int64_t id) {
    const std::string text = said(id);
    return {std::stoi(text), std::stoi(text.substr(text.find(' ')))};
  }

  struct Note {
    std::int64_t id;
    std::string kind;
    std::string text;
  };
  void note(std::int64_t id, std::string kind, std::string text) {
    if (kind == "ended") ended_at = notes.size();
    notes.push_back({id, std::move(kind), std::move(text)});
  }

  boost::asio::io_context loop;
  Scratch scratch;
  FactoryConfig config;
  std::unique_ptr<Agent> agent;
  std::vector<Note> notes;
  std::size_t ended_at = 0;
  std::string tail;
  std::function<void(std::int64_t id)> on_end;  ///< What else happens when a worker has ended.
  long until_pause = -1;
  std::chrono::milliseconds busy_with_each_message{0};
};

inline const std::string lost_with_factory =
    "was killed by SIGKILL (signal 9): its worker factory died, and it with it";

}  // namespace headway::node
