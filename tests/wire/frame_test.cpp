#include "wire/frame.hpp"

#include "wire/factory_messages.hpp"
#include "wire/guest_messages.hpp"
#include "wire/session_messages.hpp"

#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

/// Messages as frames and back, and frames that hold none.
namespace headway::wire {

namespace {

template <class Variant, class M>
M through(const M& message) {
  const Result<Variant> back = from_frame<Variant>(to_frame(message));
  BOOST_REQUIRE(back.has_value());
  BOOST_REQUIRE(std::holds_alternative<M>(*back));
  return std::get<M>(*back);
}

std::string error_of(std::string json) {
  const Result<ToWorker> back = from_frame<ToWorker>(Frame{std::move(json), nullptr, {}});
  BOOST_REQUIRE(!back.has_value());
  BOOST_TEST((back.error().kind == ErrorKind::corrupted));
  return back.error().message;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(frame_suite)

BOOST_AUTO_TEST_CASE(a_message_with_every_field_comes_back_as_it_was) {
  StartSession start;
  start.plan = {3, 1, 1, 2, {"node-b", "host-b", "10.0.0.2", 8, {"GPU-1", "2"}}};
  start.run_name = "größe \"und\" mehr\n";
  RankRole rank;
  rank.attempt = 7;
  rank.checkpoint = "/storage/run/checkpoint_000003";
  start.role = role_json(rank);
  start.setup = {{"nested", {{"list", {1, 2.5, nullptr}}}}};
  const StartSession back = through<ToWorker>(start);
  BOOST_TEST(back.plan.slot.gpu_ids == start.plan.slot.gpu_ids);
  BOOST_TEST(back.plan.rank == 3);
  BOOST_TEST(back.run_name == start.run_name);
  const auto role = std::get<RankRole>(to_role(back.role).value());
  BOOST_TEST(role.checkpoint.value() == "/storage/run/checkpoint_000003");
  BOOST_TEST(role.attempt == 7);
  BOOST_TEST(back.setup == start.setup);
}

BOOST_AUTO_TEST_CASE(a_worker_without_a_role_or_with_an_unknown_one_is_refused_in_words) {
  BOOST_TEST(to_role({}).error().message == "a message without a kind");
  const auto unknown = to_role({{"is", "GhostRole"}, {"fields", JsonObject{}}});
  BOOST_REQUIRE(!unknown);
  BOOST_TEST(unknown.error().message.find("GhostRole") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(each_role_comes_back_as_it_was) {
  const auto back = [](const WorkerRole& role) { return to_role(role_json(role)).value(); };
  BOOST_TEST(std::get<ArtifactRole>(back(ArtifactRole{"/tmp/w"})).working_directory == "/tmp/w");
  const auto validation = std::get<ValidationRole>(back(ValidationRole{"/run/checkpoint_1", {{"n", 3}}, true}));
  BOOST_TEST(validation.checkpoint == "/run/checkpoint_1");
  BOOST_TEST(validation.arguments.at("n").as_int64() == 3);
  BOOST_TEST(validation.older_form);
}

BOOST_AUTO_TEST_CASE(what_is_not_there_stays_away) {
  BOOST_TEST(!through<ToWorker>(ReportAnswered{3, {}, {}}).checkpoint);
  BOOST_TEST(!through<FromWorker>(Reported{0, {}, {}, {}}).checkpoint);
  const Reported back = through<FromWorker>(Reported{0, {}, CheckpointOffer{}, {}});
  BOOST_REQUIRE(back.checkpoint.has_value());
  BOOST_TEST(back.checkpoint->files.empty());
}

BOOST_AUTO_TEST_CASE(metrics_that_are_no_number_or_infinite_come_through) {
  const double infinity = std::numeric_limits<double>::infinity();
  const JsonObject metrics = {{"nan", std::numeric_limits<double>::quiet_NaN()}, {"up", infinity}, {"down", -infinity}};
  const Reported back = through<FromWorker>(Reported{1, metrics, {}, {}});
  BOOST_TEST(std::isnan(back.metrics.at("nan").as_double()));
  BOOST_TEST(back.metrics.at("up").as_double() == infinity);
  BOOST_TEST(back.metrics.at("down").as_double() == -infinity);
}

BOOST_AUTO_TEST_CASE(factory_messages_come_through) {
  BOOST_TEST(through<ToFactory>(SpawnWorker{9, {{"A", "1"}, {"B", ""}}}).env.size() == 2U);
  BOOST_TEST(through<ToFactory>(SignalWorker{9, 15}).signal == 15);
  const WorkerEnded ended = through<FromFactory>(WorkerEnded{9, {true, 11, "why"}});
  BOOST_TEST(ended.status.signaled);
  BOOST_TEST(ended.status.code == 11);
  BOOST_TEST(ended.status.detail == "why");
}

BOOST_AUTO_TEST_CASE(a_message_of_unknown_kind_is_refused_by_its_name) {
  BOOST_TEST(error_of(R"({"is": "Teleport", "fields": {}})") == "a message of unknown kind \"Teleport\"");
}

BOOST_AUTO_TEST_CASE(a_message_of_the_other_direction_is_unknown) {
  BOOST_TEST(error_of(to_frame(TrainingReturned{}).json) == "a message of unknown kind \"TrainingReturned\"");
}

BOOST_AUTO_TEST_CASE(what_is_no_message_is_refused) {
  for (const char* json : {"{}", "[]", "null", "3", R"({"is": 3, "fields": {}})", R"({"is": "Train"})"}) {
    BOOST_TEST(error_of(json) == "a message without a kind");
  }
  for (const char* json : {"", "{", "{\"is\": \"Train\", \"fields\": {}} x", "\xff"}) error_of(json);
}

BOOST_AUTO_TEST_CASE(fields_that_do_not_fit_are_refused_with_the_kind) {
  BOOST_TEST(error_of(R"({"is": "Execute", "fields": {"call_id": "three"}})").starts_with("Execute: "));
  BOOST_TEST(error_of(R"({"is": "Execute", "fields": []})").starts_with("Execute: "));
}

BOOST_AUTO_TEST_CASE(names_and_numbers_of_messages_are_checked) {
  const auto reported = [](const std::string& name) {
    Reported message{0, {}, CheckpointOffer{}, {}};
    message.checkpoint->directory_name = name;
    return check_message(FromWorker(message));
  };
  BOOST_TEST(reported("best").has_value());
  const Result<void> refused = reported("../other/checkpoint_1");
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST(refused.error().message.starts_with("the reported checkpoint is \"../other/checkpoint_1\"; allowed: "));
  Uploaded stored;
  stored.stored_name = "..";
  BOOST_TEST(!check_message(FromWorker(stored)).has_value());
  Uploaded files;
  files.files = {{"../model.pt", 1, "", 0}};
  BOOST_TEST(!check_message(FromWorker(files)).has_value());
  const FunctionWorkersWanted wanted{4000, "a token", 2, 1, {}};
  BOOST_TEST(check_message(FromWorker(wanted)).has_value());
  for (const FunctionWorkersWanted& bad :
       {FunctionWorkersWanted{0, "", 2, 1, {}}, FunctionWorkersWanted{1 << 16, "", 2, 1, {}},
        FunctionWorkersWanted{1, std::string(300, 'x'), 2, 1, {}}, FunctionWorkersWanted{1, "", -1, 1, {}},
        FunctionWorkersWanted{1, "", 2'000'000'000, 1, {}}, FunctionWorkersWanted{1, "", 2, -1, {}},
        FunctionWorkersWanted{1, "", 2, std::numeric_limits<double>::quiet_NaN(), {}}}) {
    BOOST_TEST(!check_message(FromWorker(bad)).has_value());
  }

  GuestAcquire claim;
  BOOST_TEST(check_message(ToHost(claim)).has_value());
  claim.workers_max = 2'000'000'000;
  BOOST_TEST(!check_message(ToHost(claim)).has_value());
  claim = {};
  claim.hard["CPU"] = -1;
  BOOST_TEST(!check_message(ToHost(claim)).has_value());
}

BOOST_AUTO_TEST_CASE(only_named_kinds_may_be_long_and_carry_raw_bytes_or_descriptors) {
  const auto blob = std::make_shared<const std::string>("raw");
  BOOST_TEST(check_frame(to_frame(Train{}, blob)).has_value());
  const Result<void> refused = check_frame(to_frame(EndSession{}, blob));
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST(refused.error().message.ends_with(" + 3 bytes is beyond the bounds (1048576 + 0 bytes)"));
  Frame with_descriptor = to_frame(Train{});
  with_descriptor.fds.emplace_back();
  BOOST_TEST(!check_frame(with_descriptor).has_value());
  BOOST_TEST(check_frame(to_frame(Validated{{{"text", std::string(2 << 20, 'x')}}})).has_value());
  BOOST_TEST(!check_frame(to_frame(CheckpointStored{0, std::string(2 << 20, 'x')})).has_value());
}

BOOST_AUTO_TEST_CASE(headers_up_to_the_bounds_pass_and_beyond_them_do_not) {
  const auto fits = [](const FrameHeader& header) { return check_bounds(header, user_bytes, "a message"); };
  BOOST_TEST(fits({json_size_max, 0, blob_size_max}).has_value());
  BOOST_TEST(!fits({json_size_max + 1, 0, 0}).has_value());
  BOOST_TEST(!fits({0, 1, 0}).has_value());
  const Result<void> refused = fits({0, 0, blob_size_max + 1});
  BOOST_REQUIRE(!refused.has_value());
  BOOST_TEST((refused.error().kind == ErrorKind::corrupted));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::wire
