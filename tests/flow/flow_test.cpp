#include "flow/flow.hpp"

#include "flow/session.hpp"

#include <boost/test/unit_test.hpp>

#include <future>

namespace headway::flow {
namespace {

/// A flow over a file that does not exist, and what its client would get.
struct FailingFlow {
  void start(bool wanted) {
    const Json json =
        parse_json(R"([{"op": "read", "inputs": [], "args": {"format": "parquet", "paths": ["/none/a.parquet"]}}])",
                   "a plan")
            .value();
    auto input = std::make_shared<const PlanInput>(read_plan(json, {}, 0, nullptr).value());
    outlet = reserve_outlet(loop, engine.budget(), 1).value().outlet;
    FlowEvents events{[] {}, [this](bool whole) { end.set_value(whole); }};
    flow = Flow::start(engine, input, {}, {{0, outlet}}, std::make_shared<FlowGauges>(engine.budget()),
                       std::move(events), wanted)
               .value();
    BOOST_TEST(!end.get_future().get());
  }

  boost::asio::io_context loop;
  Engine engine{feed::Hello{}};
  std::promise<bool> end;
  std::shared_ptr<Outlet> outlet;
  std::unique_ptr<Flow> flow;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(a_flow, FailingFlow)

BOOST_AUTO_TEST_CASE(says_to_its_clients_why_it_has_failed) {
  start(true);
  const std::vector<wire::Frame> said = outlet->take_messages();
  BOOST_REQUIRE_EQUAL(said.size(), 1U);
  BOOST_TEST(said[0].json.find("/none/a.parquet") != std::string::npos, said[0].json);
}

BOOST_AUTO_TEST_CASE(that_has_failed_before_anybody_wanted_it_is_nobodys) {
  start(false);
  BOOST_TEST(!flow->want());
  BOOST_TEST(outlet->take_messages().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
