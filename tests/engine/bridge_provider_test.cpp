#include "engine/bridge_provider.hpp"
#include "engine/bridge_messages.hpp"
#include "node/process_identity.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <unistd.h>

/// A provider whose bridges are shell scripts.
namespace headway::engine {

namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;

struct Bridges {
  Bridges() {
    std::string pattern = (std::filesystem::temp_directory_path() / "headway_bridge_XXXXXX").string();
    folder = ::mkdtemp(pattern.data());
  }
  ~Bridges() { std::filesystem::remove_all(folder); }

  /// Scripts find `folder` as $1.
  std::unique_ptr<BridgeProvider> provider(const std::string& script, BridgeProvider::Settings settings = quick()) {
    BridgeConfig config;
    config.engine = "test";
    config.command = {"/bin/sh", "-c", script, "bridge", folder};
    config.env = {{"OF_BRIDGE", "yes"}};
    config.token_file = "/token";
    config.options = {{"depth", 3}};
    auto made = std::make_unique<BridgeProvider>(std::move(config), settings);
    made->open({loop, {"10.0.0.1:77", "a secret"}, [this](const std::string& text) { told.push_back(text); }});
    return made;
  }

  static BridgeProvider::Settings quick() {
    return {milliseconds(1), milliseconds(2), milliseconds(60000), milliseconds(20000)};
  }

  template <class Condition>
  void run_until(Condition condition) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition() && std::chrono::steady_clock::now() < limit) loop.run_one_for(milliseconds(100));
    BOOST_REQUIRE(condition());
  }

  std::string read(const std::string& name) const {
    std::ifstream file(folder + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// The kinds of the messages in a file.
  std::string kinds(const std::string& name) const {
    std::istringstream lines(read(name));
    std::string kinds;
    for (std::string line; std::getline(lines, line);) {
      const auto message = from_json_text<BridgeVerb>(line, "a line");
      kinds += (message ? message->kind : "?") + " ";
    }
    return kinds;
  }
  std::ptrdiff_t times_told(const std::string& text) const { return std::count(told.begin(), told.end(), text); }

  asio::io_context loop{1};
  std::string folder;
  std::vector<std::string> told;
};

Demand two_workers() {
  Demand demand;
  demand.parts.push_back({{2, 4, {{"CPU", 1}}, 0, {{{"region", "eu"}}}, Placement::strict_spread, {{"GPU", 1}}}, 3});
  return demand;
}

node::NodeResources node_of(const std::string& provider, const std::string& allocation) {
  node::NodeResources node;
  node.node_id = "node-1";
  node.labels = {{provider_label, provider}, {allocation_label, allocation}};
  return node;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(bridge_provider_suite, Bridges)

BOOST_AUTO_TEST_CASE(a_bridge_reads_what_is_wanted_line_by_line_until_it_is_closed) {
  auto bridge = provider("cat > $1/heard; echo $OF_BRIDGE > $1/env");
  bridge->want(two_workers());
  bridge->close();
  bridge.reset();
  std::istringstream lines(read("heard"));
  std::string line;
  std::getline(lines, line);
  const auto open = from_json_text<BridgeOpen>(line, "the first line");
  BOOST_REQUIRE(open.has_value());
  BOOST_TEST(open->provider.size() == 8U);
  BOOST_TEST(open->join == "10.0.0.1:77");
  BOOST_TEST(open->token == "a secret");
  BOOST_TEST(json_text(open->options) == R"({"depth":3})");
  std::getline(lines, line);
  BOOST_TEST(line ==
             R"({"kind":"want","parts":[{"times":3,"workers_min":2,"workers_max":4,"each":{"CPU":1E0},)"
             R"("advised_cpus":0E0,"selectors":[{"region":"eu"}],"placement":"STRICT_SPREAD","beside":{"GPU":1E0}}],)"
             R"("could_use":[]})");
  std::getline(lines, line);
  BOOST_TEST(line == R"({"kind":"close"})");
  BOOST_TEST(read("env") == "yes\n");
}

BOOST_AUTO_TEST_CASE(only_a_node_with_the_providers_label_is_its_own) {
  auto bridge = provider("cat > $1/heard");
  BOOST_TEST(!bridge->joined(node_of("somebody", "a1")));
  bridge->give_back("node-1");
  bridge->left("node-1");
  bridge->close();
  bridge.reset();
  BOOST_TEST(kinds("heard") == "open close ");
}

BOOST_AUTO_TEST_CASE(a_bridge_that_is_killed_is_started_again_and_hears_of_the_nodes_and_of_the_demand) {
  // Each life reads three lines; the first one dies then.
  auto bridge = provider(R"(for i in 1 2 3; do read -r line; echo "$line" >> $1/heard; done
    echo '{"kind":"ready"}'; if mkdir $1/once 2>&-; then kill -9 $$; fi; touch $1/second; cat > $1/rest)");
  run_until([&] { return read("heard").ends_with("\n"); });
  const auto open = from_json_text<BridgeOpen>(read("heard"), "the first line");
  BOOST_REQUIRE(open.has_value());
  BOOST_TEST(bridge->joined(node_of(open->provider, "a1")));
  bridge->want(two_workers());
  run_until([&] { return std::filesystem::exists(folder + "/second"); });
  BOOST_TEST(kinds("heard") == "open joined want open joined want ");
  const std::string heard = read("heard");
  BOOST_TEST(heard.substr(heard.size() / 2) == heard.substr(0, heard.size() / 2));
  BOOST_TEST(told == (std::vector<std::string>{"The bridge to test has ended by signal 9; it is started again, and "
                                               "nodes that have joined go on"}),
             boost::test_tools::per_element());
  bridge->give_back("node-1");
  bridge->left("node-1");
  bridge->close();
  bridge.reset();
  BOOST_TEST(kinds("rest") == "give_back left close ");
}

BOOST_AUTO_TEST_CASE(a_bridge_that_always_dies_is_told_once_and_tried_again) {
  auto bridge = provider("echo x >> $1/lives; echo no such cluster >&2; exit 3");
  bridge->want(two_workers());
  run_until([&] { return read("lives").size() >= 8; });
  BOOST_TEST(told == (std::vector<std::string>{"(bridge to test) no such cluster",
                                               "The bridge to test has ended with exit code 3; it is started again, "
                                               "and nodes that have joined go on"}),
             boost::test_tools::per_element());
  bridge->close();
}

BOOST_AUTO_TEST_CASE(a_bridge_that_cannot_be_started_is_tried_again) {
  BridgeConfig config;
  config.engine = "test";
  config.command = {"/there/is/no/bridge"};
  BridgeProvider bridge(config, quick());
  int tries = 0;
  bridge.open({loop, {"10.0.0.1:77", "a secret"}, [&](const std::string& text) {
                 told.push_back(text);
                 ++tries;
               }});
  BOOST_TEST(tries == 1);
  BOOST_TEST(told.front().find("cannot be started: cannot start /there/is/no/bridge") != std::string::npos);
  loop.run_for(milliseconds(20));
  BOOST_TEST(tries == 1);
  bridge.close();
}

BOOST_AUTO_TEST_CASE(lines_that_are_no_messages_are_shown_and_passed_over) {
  auto bridge = provider(R"(echo garbage; echo '{"kind":"dance"}'; echo '{"kind":"warn"}'; echo '{"kind":3}'
    printf '{"kind":"warn","text":"the queue is \033[31mlong"}\n'; echo '{"kind":"failed","text":"no partition x"}'
    cat > /dev/null)");
  bridge->want(two_workers());
  run_until([&] { return told.size() == 6; });
  BOOST_TEST(told[0] == "The bridge to test: it writes a line that is no message: garbage");
  BOOST_TEST(told[1] == R"(The bridge to test: it writes a message of no known kind: {"kind":"dance"})");
  BOOST_TEST(told[2] == R"(The bridge to test: it writes a message without its text: {"kind":"warn"})");
  BOOST_TEST(told[3] == R"(The bridge to test: it writes a line that is no message: {"kind":3})");
  // JSON has no control characters in strings.
  BOOST_TEST(told[4].find("line that is no message") != std::string::npos);
  BOOST_TEST(told[5] == "no partition x");
  bridge->close();
}

BOOST_AUTO_TEST_CASE(a_line_without_an_end_does_not_fill_the_memory) {
  auto bridge = provider("head -c 5000000 /dev/zero | tr '\\0' x; echo; cat > /dev/null");
  run_until([&] { return !told.empty(); });
  BOOST_TEST(told.front().size() < 400U);
  bridge->close();
}

BOOST_AUTO_TEST_CASE(a_bridge_that_never_answers_is_ended_and_started_again) {
  BridgeProvider::Settings settings = quick();
  settings.ping_pause = milliseconds(5);
  auto bridge = provider("echo x >> $1/lives; exec tail -f /dev/null", settings);
  run_until([&] { return read("lives").size() >= 4; });
  BOOST_TEST(times_told("The bridge to test does not answer; it is ended") == 1);
  bridge->close();
}

BOOST_AUTO_TEST_CASE(a_bridge_that_answers_pings_lives_on) {
  BridgeProvider::Settings settings = quick();
  settings.ping_pause = milliseconds(20);
  auto bridge = provider(R"(while read -r line; do case "$line" in
    *'"ping"'*) echo x >> $1/pings; echo '{"kind":"pong"}';; esac; done)",
                         settings);
  run_until([&] { return read("pings").size() >= 12; });
  BOOST_TEST(told.empty());
  bridge->close();
}

BOOST_AUTO_TEST_CASE(a_bridge_that_does_not_end_is_ended_with_all_that_it_has_started) {
  BridgeProvider::Settings settings = quick();
  settings.end_limit = milliseconds(100);
  auto bridge = provider("echo $$ > $1/pid; tail -f /dev/null & echo $! > $1/child; wait", settings);
  run_until([&] { return !read("child").empty(); });
  const node::ProcessIdentity child = node::identity_of(std::stoi(read("child")));
  bridge->close();
  bridge.reset();
  BOOST_TEST(::kill(std::stoi(read("pid")), 0) == -1);
  BOOST_TEST(node::wait_for_end(child, std::chrono::seconds(60)));
}

BOOST_AUTO_TEST_CASE(a_bridge_has_time_to_give_everything_back_after_the_close) {
  auto bridge = provider("while read -r line; do :; done; echo scancel >&2; echo done > $1/given_back");
  bridge->close();
  bridge.reset();
  BOOST_TEST(read("given_back") == "done\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::engine
