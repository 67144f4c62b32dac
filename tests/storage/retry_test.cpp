#include "storage/remote/retry.hpp"
#include "storage/outage.hpp"

#include <boost/test/unit_test.hpp>

#include <vector>

namespace headway::storage {

using std::chrono::milliseconds;

namespace {

/// A clock that goes on only when somebody waits, and remembers for how long.
struct ManualPatience : Patience {
  milliseconds now() override { return time; }
  bool wait(milliseconds duration) override {
    if (lost) return false;
    waits.push_back(duration);
    time += duration;
    return true;
  }
  double random() override { return chance; }

  milliseconds time{1000};
  std::vector<milliseconds> waits;
  double chance = 1;
  bool lost = false;
};

/// A run's last operations, each of which would be tried for a minute. An attempt takes three
/// seconds.
struct LastOnes {
  Result<void> operate(bool works = false) {
    const Outage::Scope scope(&outage);
    return with_retries({}, *patience, [&] {
      ++attempts;
      if (!works) patience->time += milliseconds(3000);
      return works ? Result<void>() : Result<void>(Error{ErrorKind::unavailable, "no answer"});
    });
  }
  milliseconds spent() const { return patience->time - milliseconds(1000); }

  std::shared_ptr<ManualPatience> patience = std::make_shared<ManualPatience>();
  std::vector<std::string> told;
  Outage outage{patience, [this](const std::string& text) { told.push_back(text); }};
  int attempts = 0;
};

/// An attempt that fails so often, and then succeeds.
struct Fragile {
  int failures = 0;
  ErrorKind kind = ErrorKind::unavailable;
  int made = 0;
  Result<void> operator()() {
    return ++made <= failures ? Result<void>(Error{kind, "the network is down"}) : Result<void>();
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(retry_suite)

BOOST_AUTO_TEST_CASE(what_fails_for_now_is_tried_again_with_doubled_waits) {
  ManualPatience patience;
  Fragile fragile{4};
  BOOST_TEST(with_retries({}, patience, std::ref(fragile)).has_value());
  BOOST_TEST(fragile.made == 5);
  const std::vector<milliseconds> expected{milliseconds(200), milliseconds(400), milliseconds(800), milliseconds(1600)};
  BOOST_TEST((patience.waits == expected));
}

BOOST_AUTO_TEST_CASE(waits_are_spread_so_that_ranks_do_not_come_back_all_at_once) {
  ManualPatience patience;
  patience.chance = 0;
  Fragile fragile{1};
  BOOST_TEST(with_retries({}, patience, std::ref(fragile)).has_value());
  BOOST_TEST((patience.waits == std::vector<milliseconds>{milliseconds(100)}));
}

BOOST_AUTO_TEST_CASE(the_last_failure_says_how_often_it_was_tried) {
  ManualPatience patience;
  Fragile fragile{100};
  const Result<void> outcome = with_retries({}, patience, std::ref(fragile));
  BOOST_TEST(fragile.made == 5);
  BOOST_TEST(outcome.error().message == "the network is down (tried 5 times within 3.0 s of the first failure)");
}

BOOST_AUTO_TEST_CASE(what_fails_for_good_is_not_tried_again) {
  for (const ErrorKind kind : {ErrorKind::refused, ErrorKind::not_found, ErrorKind::invalid_argument}) {
    ManualPatience patience;
    Fragile fragile{1, kind};
    const Result<void> outcome = with_retries({}, patience, std::ref(fragile));
    BOOST_TEST(fragile.made == 1);
    BOOST_TEST(outcome.error().message == "the network is down");
    BOOST_TEST(patience.waits.empty());
  }
}

BOOST_AUTO_TEST_CASE(no_attempt_is_begun_after_the_total_time) {
  ManualPatience patience;
  RetryPolicy policy;
  policy.attempts_max = 100;
  policy.total_max = milliseconds(1000);
  Fragile fragile{1000};
  BOOST_TEST(!with_retries(policy, patience, std::ref(fragile)));
  BOOST_TEST(fragile.made == 3);  // 200 and 400 ms are waited; 800 more would be too long.
}

BOOST_AUTO_TEST_CASE(waits_do_not_grow_beyond_the_longest) {
  ManualPatience patience;
  RetryPolicy policy;
  policy.attempts_max = 12;
  policy.total_max = std::chrono::hours(1);
  Fragile fragile{11};
  BOOST_TEST(with_retries(policy, patience, std::ref(fragile)).has_value());
  BOOST_TEST((patience.waits.back() == milliseconds(10'000)));
}

BOOST_AUTO_TEST_CASE(a_process_that_ends_does_not_wait) {
  ManualPatience patience;
  patience.lost = true;
  Fragile fragile{1};
  BOOST_TEST(!with_retries({}, patience, std::ref(fragile)));
  BOOST_TEST(fragile.made == 1);
}

BOOST_AUTO_TEST_CASE(a_runtime_that_is_shut_down_ends_real_waits_and_the_next_one_waits_again) {
  lose_patience();
  BOOST_TEST(!real_patience()->wait(std::chrono::hours(1)));
  regain_patience();
  BOOST_TEST(real_patience()->wait(milliseconds(1)));
}

BOOST_FIXTURE_TEST_CASE(the_last_operations_have_one_patience_together, LastOnes) {
  outage.begin_end();
  const Result<void> first = operate();
  BOOST_TEST(!first.has_value());
  for (int left = 0; left < 50; ++left) BOOST_TEST(!operate().has_value());
  BOOST_TEST((spent() < milliseconds(70'000)));
  const Result<void> last = operate();
  BOOST_TEST(last.error().message.find("so nothing more is tried") != std::string::npos);
  BOOST_TEST((last.error().kind == ErrorKind::unavailable));
  BOOST_TEST(told.size() == 1U);
  BOOST_TEST(
      told[0] ==
      "storage does not answer (no answer); the run's last files wait for it for 60 s more. Ctrl-C shortens that");
}

BOOST_FIXTURE_TEST_CASE(an_answer_gives_all_of_the_patience_back, LastOnes) {
  outage.begin_end();
  for (int round = 0; round < 20; ++round) {
    BOOST_TEST(!operate().has_value());
    attempts = 0;
    BOOST_TEST(operate(true).has_value());
    BOOST_TEST(attempts == 1);
  }
  BOOST_TEST((spent() > milliseconds(120'000)));
}

BOOST_FIXTURE_TEST_CASE(a_refusal_is_an_answer, LastOnes) {
  outage.begin_end();
  BOOST_TEST(!operate().has_value());
  const Outage::Scope scope(&outage);
  const auto refuse = [] { return Result<void>(Error{ErrorKind::refused, "no right"}); };
  BOOST_TEST(with_retries({}, *patience, refuse).error().message == "no right");
  BOOST_TEST(!outage.over({}).has_value());
}

BOOST_FIXTURE_TEST_CASE(before_the_end_each_operation_is_tried_once_at_least, LastOnes) {
  for (int i = 0; i < 20; ++i) BOOST_TEST(!operate().has_value());
  attempts = 0;
  BOOST_TEST(!operate().has_value());
  BOOST_TEST(attempts == 1);
  BOOST_TEST(operate(true).has_value());
  BOOST_TEST(told.empty());
}

BOOST_FIXTURE_TEST_CASE(the_user_can_shorten_the_end, LastOnes) {
  outage.begin_end();
  outage.hurry();
  BOOST_TEST(!operate().has_value());
  BOOST_TEST(!operate().has_value());
  BOOST_TEST((spent() < milliseconds(15'000)));
  attempts = 0;
  BOOST_TEST(!operate().has_value());
  BOOST_TEST(attempts == 0);
}

BOOST_AUTO_TEST_CASE(an_outage_is_that_of_its_scope_alone) {
  Outage outer(real_patience(), nullptr);
  Outage inner(real_patience(), nullptr);
  BOOST_TEST(Outage::current() == nullptr);
  {
    const Outage::Scope first(&outer);
    {
      const Outage::Scope second(&inner);
      BOOST_TEST(Outage::current() == &inner);
    }
    BOOST_TEST(Outage::current() == &outer);
  }
  BOOST_TEST(Outage::current() == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
