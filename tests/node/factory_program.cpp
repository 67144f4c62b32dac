#include "node/factory_server.hpp"
#include "node/process.hpp"
#include "node/words.hpp"
#include "wire/blocking_channel.hpp"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <unistd.h>

/// A worker factory without a language: its workers do what the text of each frame says. The
/// modules "missing" and "thread" are one that cannot be imported and one that starts a thread.
namespace {

using namespace headway;

void say(int session, const std::string& text) { (void)wire::send_frame(session, node::words_of(text)); }

/// A child in the worker's session, which keeps the worker's socket and output open, and a
/// grandchild in another one below it.
void start_family(int session) {
  if (fork() == 0) {
    if (fork() == 0) {
      setsid();
      say(session, std::to_string(getpid()));
      while (true) pause();
    }
    say(session, std::to_string(getpid()));
    while (true) pause();
  }
}

void print_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "line " + std::to_string(i) + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (written <= 0) _exit(9);
    done += static_cast<std::size_t>(written);
  }
}

/// Lives on, and has printed that nobody can reach it any more.
void become_deaf(int session) {
  close(session);
  print_lines(1);
  while (true) pause();
}

[[noreturn]] void work(int session) {
  while (true) {
    const auto frame = wire::receive_frame(session, wire::messages_of<wire::ToWorker>);
    if (!frame || !*frame) _exit(0);
    const std::string order = node::order_in(**frame);
    const std::string rest = order.substr(order.find(' ') + 1);
    if (order.starts_with("exit")) _exit(std::atoi(rest.c_str()));
    if (order.starts_with("raise")) raise(std::atoi(rest.c_str()));
    if (order.starts_with("print")) print_lines(std::atoi(rest.c_str()));
    if (order.starts_with("say")) say(session, rest);
    if (order.starts_with("deaf")) become_deaf(session);
    if (order.starts_with("babble")) (void)wire::send_frame(session, {R"({"is":"Babble","fields":{}})", nullptr});
    if (order.starts_with("pids")) say(session, std::to_string(getppid()) + " " + std::to_string(getpid()));
    if (order.starts_with("family")) start_family(session);
    if (order.starts_with("env")) say(session, std::getenv(rest.c_str()) == nullptr ? "" : std::getenv(rest.c_str()));
  }
}

void set_environment(const std::map<std::string, std::string>& env) {
  for (const auto& [name, value] : env) setenv(name.c_str(), value.c_str(), 1);
}

int serve(int argc, char** argv) {
  std::vector<std::string> problems;
  node::FactoryHooks hooks{::fork, {"/proc/self/exe", "--worker"}, std::getenv("HEADWAY_TEST_ALWAYS_EXEC") != nullptr};
  node::FactoryServer server(wire::Fd(std::atoi(argv[1])), hooks);
  for (int i = 2; i < argc; ++i) {
    if (std::strcmp(argv[i], "missing") == 0) problems.emplace_back("missing: no such module");
    if (std::strcmp(argv[i], "thread") == 0) std::thread([] { pause(); }).detach();
  }
  if (!server.announce(problems)) return 1;
  auto worker = server.serve();
  if (!worker) return 0;
  set_environment(worker->env);
  work(worker->session.release());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--worker") == 0) {
    node::die_with(std::atoi(argv[3]));
    work(std::atoi(argv[2]));
  }
  return argc < 2 ? 2 : serve(argc, argv);
}
