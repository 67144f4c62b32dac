#include "dashboard/verdict.hpp"

#include "dashboard/causes.hpp"
#include "dashboard/masking.hpp"

#include <boost/test/unit_test.hpp>

/// What is said of a run in one line, and what is not shown.
namespace headway::dashboard {

namespace {

using control::RunState;

struct Viewed {
  Viewed() {
    view.taken_unix_s = 1000;
    view.state_for_s = 100;
    view.state = RunState::running;
    view.workers = 8;
    view.workers_max = 8;
    view.attempt = 1;
  }
  std::string words(const VerdictContext& context = {}) const { return verdict_of(view, context).words; }
  VerdictLevel level(const VerdictContext& context = {}) const { return verdict_of(view, context).level; }
  control::RunView view;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(verdict_suite, Viewed)

BOOST_AUTO_TEST_CASE(a_run_that_trains) {
  BOOST_TEST(words() == "training on 8 workers");
  BOOST_TEST((level() == VerdictLevel::good));
  BOOST_TEST(verdict_of(view, {}).since_s.value() == 900);
}

BOOST_AUTO_TEST_CASE(a_wait_counts_from_five_seconds_on_and_is_a_stall_from_thirty) {
  view.wait = control::WaitView{control::WaitKind::collective, "rank 5 is not in gloo:all_reduce", 4, {5}, {0}};
  BOOST_TEST((level() == VerdictLevel::good));
  BOOST_TEST(words({.age_s = 2}) == "waiting: rank 5 is not in gloo:all_reduce");
  BOOST_TEST((level({.age_s = 2}) == VerdictLevel::wait));
  BOOST_TEST(words({.age_s = 26}) == "stalled: rank 5 is not in gloo:all_reduce");
  BOOST_TEST((level({.age_s = 26}) == VerdictLevel::bad));
  BOOST_TEST(verdict_of(view, {.age_s = 26}).since_s.value() == 996);
}

BOOST_AUTO_TEST_CASE(a_stall_has_the_line_of_the_user_that_it_is_at) {
  const std::string stack =
      "waiting in a system call\nMainThread (waiting), innermost frame first:\n  all_reduce (c10d.py:32)\n"
      "  loop (/home/me/train.py:41)\n";
  BOOST_TEST(place_in_stack(stack) == "all_reduce() at train.py:41");
  BOOST_TEST(place_in_stack("  all_reduce (c10d.py:32)\n") == "");
  BOOST_TEST(place_in_stack("  0x7f81 (libc.so.6)\n  Condition.wait (/usr/lib/python3.11/threading.py:320)\n"
                            "  load (/me/data.py:7)\n") == "Condition.wait() at data.py:7");
  BOOST_TEST(place_in_stack("  <module> (/me/train.py:3)\n") == "<module> at train.py:3");
  BOOST_TEST(place_in_stack("no stack (it gives no answer)\n") == "");
  view.wait = control::WaitView{control::WaitKind::report, "rank 5 has not come to report #3", 40, {5}, {0}};
  BOOST_TEST(words({.place = "rank 5 is in " + place_in_stack(stack)}) ==
             "stalled: rank 5 has not come to report #3; rank 5 is in all_reduce() at train.py:41");
}

BOOST_AUTO_TEST_CASE(a_run_that_waits_for_data_or_for_a_rank) {
  control::DataTimes data;
  data.verdict.is_data_bound = true;
  data.verdict.words = "data-bound by stage map_batches(f): ranks waited 61 % of the time for data";
  VerdictContext context;
  context.data = data;
  BOOST_TEST(words(context) == "training, data-bound by stage map_batches(f): ranks waited 61 % of the time for data");
  for (int rank = 0; rank < 4; ++rank) {
    control::RankView& seen = view.ranks.emplace_back();
    seen.rank = rank;
    seen.steps = control::StepView{100, 1.0, rank == 3 ? 0.0 : 0.5};
  }
  BOOST_TEST(words() == "training; rank 3 is 2.0 times slower than the others, which wait for it");
  view.attempt_for_s = 125;
  BOOST_TEST(words() ==
             "training; rank 3 is 2.0 times slower than the others: about 50 of the 125 seconds so far were "
             "spent waiting for it");
  const std::vector<Cause> causes = causes_of(view, RunRecord(), {});
  BOOST_REQUIRE(causes.size() == 1U);
  BOOST_TEST(causes[0].words == "rank 3 takes 1.00 s for its own part of a step (without waiting), the others 0.5 s");
  BOOST_TEST(causes[0].part == "steps");
}

BOOST_AUTO_TEST_CASE(a_run_that_waits_for_nodes) {
  view.state = RunState::scheduling;
  BOOST_TEST(words() == "waiting for capacity: 8 workers");
  VerdictContext context;
  context.wanted = "2 workers with {GPU: 1} each";
  context.wants_nodes = true;
  BOOST_TEST(words(context) == "waiting for nodes: 2 workers with {GPU: 1} each");
}

BOOST_AUTO_TEST_CASE(a_run_that_recovers) {
  view.ended.push_back({1, "rank 1 died: SIGKILL\nmore"});
  view.state = RunState::restarting;
  BOOST_TEST(words() == "recovering: rank 1 died: SIGKILL");
  view.state = RunState::starting;
  view.attempt = 2;
  BOOST_TEST(words() == "recovering, attempt 2 starts 8 workers; rank 1 died: SIGKILL");
}

BOOST_AUTO_TEST_CASE(why_a_run_ended) {
  view.reports.count = 3;
  view.state = RunState::finished;
  BOOST_TEST(words() == "finished after 3 reports");
  view.stop_reason = "loss <= 0.1";
  BOOST_TEST(words() == "finished after 3 reports: loss <= 0.1");
  view.attempt = 2;
  BOOST_TEST(words() == "finished after 3 reports, with 1 restart: loss <= 0.1");
  BOOST_TEST((level() == VerdictLevel::done));
  view.state = RunState::failed;
  view.failure =
      control::failure_of(control::FailureSource::group, ErrorKind::user_code, "ValueError: bad batch\nmore");
  BOOST_TEST(words() == "failed: ValueError: bad batch");
  const std::string perhaps = " (perhaps out of memory, by the scheduler, or by hand)";
  view.failure->message = "rank 1 was killed by SIGKILL, in attempt 2\nmore";
  BOOST_TEST(words() == "failed: rank 1 was killed by SIGKILL, in attempt 2" + perhaps);
  view.attempt = 1;  // Of one attempt nobody asks which.
  BOOST_TEST(words() == "failed: rank 1 was killed by SIGKILL" + perhaps);
  BOOST_TEST((level() == VerdictLevel::bad));
  view.state = RunState::aborted;
  view.abort_reason = "Ctrl-C";
  BOOST_TEST(words() == "aborted: Ctrl-C");
}

BOOST_AUTO_TEST_CASE(a_run_whose_driver_died) {
  BOOST_TEST(words({.driver_lost = true}) == "lost: its driver died while the run was running");
  view.state = RunState::finished;
  BOOST_TEST(words({.driver_lost = true}) == "finished after 0 reports");
}

BOOST_AUTO_TEST_CASE(secrets_are_not_shown) {
  for (const char* name : {"token", "HF_TOKEN", "api_key", "apiKey", "aws_secret_access_key", "db.password",
                           "Authorization", "client-secret"}) {
    BOOST_TEST_CONTEXT(name) BOOST_TEST(is_secret_name(name));
  }
  for (const char* name : {"tokens", "max_tokens", "num_tokens_per_s", "key", "tokenizer", "passes", ""}) {
    BOOST_TEST_CONTEXT(name) BOOST_TEST(!is_secret_name(name));
  }
  Json config = parse_json(R"({"lr":0.1,"token":"abc","deep":[{"password":"x","n_token":5}]})", "").value();
  mask_secrets(config);
  BOOST_TEST(json_text(config) == R"({"lr":1E-1,"token":"***","deep":[{"password":"***","n_token":5}]})");
  BOOST_TEST(mask_secrets(std::string("export HF_TOKEN=hf_abc x=1")) == "export HF_TOKEN=*** x=1");
  BOOST_TEST(mask_secrets(std::string("{\"password\": \"a b\"}")) == "{\"password\": \"***\"}");
  BOOST_TEST(mask_secrets(std::string("Authorization: Bearer eyJ0.a-b")) == "Authorization: Bearer ***");
  BOOST_TEST(mask_secrets(std::string("last token: 512, token=7")) == "last token: 512, token=7");
  BOOST_TEST(mask_secrets(std::string("tokenizer: fast\nno secret here")) == "tokenizer: fast\nno secret here");
}

BOOST_AUTO_TEST_CASE(a_hang_that_its_limit_has_ended_is_in_the_past) {
  view.state = RunState::failed;
  view.failure =
      control::RunFailure{ErrorKind::worker_died,
                          "rank 1 did not come to report #13, in which rank 0 waited for 2.0 s, in attempt 1\n"
                          "rank 1 (pid 7 on a):\n  MainThread (waiting), innermost frame first:\n"
                          "    pause (libc.so.6)\n    hangs (/home/me/train.py:89)\n",
                          {}};
  control::RankFailure hung;
  hung.rank = 1;
  hung.kind = control::RankFailureKind::hang;
  view.failure->ranks.push_back(hung);
  BOOST_TEST(words() ==
             "hung: rank 1 stood in hangs() at train.py:89 and did not come to report #13, in which rank 0 waited for "
             "2.0 s; ended by hang_fail_s");
  view.failure->message = "storage has not answered for 2.0 s: report #3";
  BOOST_TEST(words() == "hung: storage has not answered for 2.0 s: report #3; ended by hang_fail_s");
}

BOOST_AUTO_TEST_CASE(an_exception_has_its_rank_and_its_place) {
  view.state = RunState::failed;
  view.failure = control::RunFailure{ErrorKind::user_code, "ValueError: bad batch\nTraceback", {}};
  control::RankFailure raised;
  raised.rank = 1;
  raised.pid = 1930;
  raised.hostname = "vm";
  raised.exception.emplace();
  raised.exception->traceback =
      "Traceback (most recent call last):\n  File \"/home/me/train.py\", line 80, in fails\n    check(batch)\n"
      "  File \"/usr/lib/python3/torch/nn.py\", line 3, in check\n    raise ValueError(\"bad batch\")\n";
  view.failure->ranks.push_back(raised);
  BOOST_TEST(words() == "failed: ValueError: bad batch; rank 1 (pid 1930 on vm), fails() at train.py:80");
  view.failure->ranks.front().exception->traceback = "#0 step() in train\n";
  BOOST_TEST(words() == "failed: ValueError: bad batch; rank 1 (pid 1930 on vm)");
}

BOOST_AUTO_TEST_CASE(a_kill_by_nobody_knows_whom_has_who_may_have_been) {
  BOOST_TEST(
      end_words("rank 1 was killed by SIGKILL (signal 9), in attempt 1\nmore") ==
      "rank 1 was killed by SIGKILL (signal 9), in attempt 1 (perhaps out of memory, by the scheduler, or by hand)");
  BOOST_TEST(end_words("rank 1 was killed by SIGKILL before it was ready: the limit of its cgroup") ==
             "rank 1 was killed by SIGKILL before it was ready: the limit of its cgroup");
  BOOST_TEST(end_words("rank 1 exited with code 3") == "rank 1 exited with code 3");
}

BOOST_AUTO_TEST_CASE(why_a_run_hung_and_was_slow_is_said_after_its_end) {
  view.state = RunState::failed;
  view.failure = control::RunFailure();
  control::RankFailure hung;
  hung.rank = 1;
  hung.kind = control::RankFailureKind::hang;
  hung.attempt = 2;
  view.failure->ranks.push_back(hung);
  RunRecord record;
  record.add({1000, driver::AttemptBegan{2, {"node-a", "node-a", "node-b"}, {}}});
  const std::string stack = "waiting\nMainThread (waiting), innermost frame first:\n  read (libc.so.6)\n  ";
  record.add({1001, driver::StacksSeen{1, {{1, stack + "earlier (/home/me/train.py:3)\n"}}}});
  BOOST_TEST(causes_of(view, record, {}).empty());
  record.add({1002, driver::StacksSeen{2, {{1, stack + "next_shard (/home/me/train.py:65)\n"}}}});
  driver::StepsTaken steps{2, {}};
  for (const int rank : {0, 1, 2}) {
    steps.ranks.push_back(
        {.rank = rank, .count = 100, .total_s = 150, .waited_s = rank == 2 ? 10.0 : 90.0, .of_reports = false});
  }
  record.add({1150, steps});
  VerdictContext context;
  context.data.emplace();
  context.data->verdict.is_data_bound = true;
  context.data->verdict.words = "data-bound by stage f";
  const std::vector<Cause> causes = causes_of(view, record, context);
  BOOST_REQUIRE(causes.size() == 3U);
  BOOST_TEST(causes[0].words == "rank 1 stood still in next_shard() at train.py:65");
  BOOST_TEST(causes[0].part == "stacks");
  BOOST_TEST(causes[1].words ==
             "slow: rank 2 on node-b was 2.3 times slower than the others: about 80 of the 150 "
             "seconds of attempt 2 were spent waiting for it; it took 1.40 s for its own part of a step (without "
             "waiting), the others 0.6 s");
  BOOST_TEST(causes[1].part == "steps");
  BOOST_TEST(causes[2].words == "data-bound by stage f");
  // The verdict has the hang.
  BOOST_TEST(first_cause(view, record, context)->part == "steps");
  view.failure->ranks[0].kind = control::RankFailureKind::exception;
  BOOST_TEST(causes_of(view, record, {}).size() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::dashboard
