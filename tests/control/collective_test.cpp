#include "control/rig.hpp"

/// Ranks that are held up inside a collective are asked for their positions, and whoever has not
/// entered is named.
namespace headway::control {

namespace {

constexpr auto sum = "gloo:all_reduce [4] Float";

RunSpec watched(int workers, std::optional<double> warn_s = 30, std::optional<double> fail_s = {}) {
  RunSpec spec = spec_of(workers);
  spec.failure.hang_warn_s = warn_s;
  spec.failure.hang_fail_s = fail_s;
  spec.collectives = true;
  return spec;
}

GroupPosition inside(std::int64_t sequence, double age_s, std::vector<int> ranks = {0, 1}, std::string group = "world",
                     std::string operation = sum) {
  return {std::move(group), std::move(ranks), sequence, {{sequence, std::move(operation), age_s}}};
}
GroupPosition outside(std::int64_t sequence, std::vector<int> ranks = {0, 1}, std::string group = "world") {
  return {std::move(group), std::move(ranks), sequence, {}};
}

void answer(Rig& run, int rank, std::vector<GroupPosition> positions) {
  run.send(CollectivesSeen{run.attempt(), rank, run.last<LookAtCollectives>().look, std::move(positions)});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(collective_suite)

BOOST_AUTO_TEST_CASE(a_rank_does_not_enter_a_collective_in_which_the_other_waits) {
  Rig run(watched(2));
  run.to_running();
  run.advance(30s - 1ns);
  BOOST_TEST(run.count<LookAtCollectives>() == 0U);
  run.advance(1ns);
  answer(run, 0, {inside(7, 29)});
  answer(run, 1, {outside(6)});
  BOOST_TEST(run.count<ExamineRanks>() == 0U);
  run.advance(1s);
  BOOST_TEST(run.count<LookAtCollectives>() == 2U);
  answer(run, 0, {inside(7, 30)});
  answer(run, 1, {outside(6)});
  BOOST_TEST(run.last<ExamineRanks>().ranks == std::vector<int>{1});
  run.examined();
  const std::string text = run.last<Warn>().text;
  BOOST_TEST(text.starts_with(
      "rank 1 has not entered gloo:all_reduce [4] Float #7 of process group world, in which rank 0 has "
      "been for 30.0 s (attempt 1)\n"));
  BOOST_TEST(contains(text, "rank 1 (pid 101 on host-a):\n  in function_1\n"));
  BOOST_TEST(contains(text, "  rank 0: in gloo:all_reduce [4] Float #7 of process group world for 30.0 s\n"));
  BOOST_TEST(contains(text, "  rank 1: in none of process group world, after #6\n"));
}

BOOST_AUTO_TEST_CASE(a_rank_that_does_not_answer_has_not_entered) {
  Rig run(watched(2));
  run.to_running();
  run.advance(30s);
  answer(run, 0, {inside(7, 30)});
  BOOST_TEST(run.count<ExamineRanks>() == 0U);
  run.advance(2s);
  BOOST_TEST(run.last<ExamineRanks>().ranks == std::vector<int>{1});
  run.examined();
  BOOST_TEST(contains(run.last<Warn>().text, "  rank 1: does not answer\n"));
}

BOOST_AUTO_TEST_CASE(ranks_that_compute_for_long_are_left_alone) {
  Rig run(watched(2, 30, 40));
  run.to_running();
  for (int look = 1; look < 50; ++look) {
    run.advance(30s);
    answer(run, 0, {look % 2 == 0 ? outside(7) : inside(8, 0.1)});
    answer(run, 1, {outside(7)});
  }
  BOOST_TEST(run.count<LookAtCollectives>() >= 25U);
  BOOST_TEST(run.count<ExamineRanks>() == 0U);
}

BOOST_AUTO_TEST_CASE(nobody_is_asked_while_reports_come_or_a_rank_waits_in_one) {
  Rig run(watched(2));
  run.to_running();
  for (int i = 0; i < 100; ++i) {
    run.advance(20s);
    run.report_all();
  }
  BOOST_TEST(run.count<LookAtCollectives>() == 0U);
  BOOST_TEST(run.count<SetTimer>() <= 200U);
}

BOOST_AUTO_TEST_CASE(a_rank_that_is_missed_in_a_report_is_said_to_be_in_a_collective) {
  Rig run(watched(2));
  run.to_running();
  run.report(0);
  run.advance(30s);
  answer(run, 0, {outside(6)});
  answer(run, 1, {inside(7, 30)});
  run.examined();
  BOOST_TEST(
      run.last<Warn>().text.starts_with("rank 1 has not come to report #1, in which rank 0 has waited for 30.0 s"));
  BOOST_TEST(
      contains(run.last<Warn>().text, "  rank 1: in gloo:all_reduce [4] Float #7 of process group world for 30.0 s\n"));
}

BOOST_AUTO_TEST_CASE(ranks_meet_with_different_collectives) {
  Rig run(watched(2));
  run.to_running();
  run.advance(30s);
  answer(run, 0, {inside(7, 30)});
  answer(run, 1, {inside(7, 30, {0, 1}, "world", "gloo:broadcast [4] Float")});
  run.examined();
  BOOST_TEST(run.last<Warn>().text.starts_with(
      "the ranks have been in different collectives of process group world (rank 0 in gloo:all_reduce [4] Float #7, "
      "rank 1 in gloo:broadcast [4] Float #7) for 30.0 s"));
}

BOOST_AUTO_TEST_CASE(ranks_are_in_collectives_of_different_numbers_and_neither_is_said_to_be_late) {
  Rig run(watched(2));
  run.to_running();
  run.advance(30s);
  answer(run, 0, {inside(8, 30)});
  answer(run, 1, {inside(7, 30)});
  run.examined();
  BOOST_TEST(
      run.last<Warn>().text.starts_with("the ranks have been in collectives of process group world that do not meet "
                                        "(rank 0 in gloo:all_reduce [4] Float #8, "
                                        "rank 1 in gloo:all_reduce [4] Float #7) for 30.0 s"));
}

BOOST_AUTO_TEST_CASE(all_are_in_one_collective_that_does_not_end) {
  Rig run(watched(2));
  run.to_running();
  run.advance(30s);
  answer(run, 0, {inside(7, 30)});
  answer(run, 1, {inside(7, 30)});
  run.examined();
  BOOST_TEST(
      run.last<Warn>().text.starts_with("ranks 0, 1 have been in gloo:all_reduce [4] Float #7 of process group world, "
                                        "which every rank has entered, for 30.0 s"));
}

BOOST_AUTO_TEST_CASE(ranks_wait_for_one_that_waits_for_another_and_the_last_of_them_is_named) {
  Rig run(watched(3));
  run.to_running();
  run.advance(30s);
  answer(run, 0, {inside(3, 30, {0, 1}, "data")});
  answer(run, 1, {outside(2, {0, 1}, "data"), inside(5, 29.9, {1, 2}, "model")});
  answer(run, 2, {outside(4, {1, 2}, "model")});
  run.advance(100ms);
  BOOST_TEST(run.last<ExamineRanks>().ranks == std::vector<int>{2});
}

BOOST_AUTO_TEST_CASE(a_rank_has_finished_while_the_other_waits_in_a_collective) {
  Rig run(watched(2));
  run.to_running();
  run.returns(1);
  run.advance(30s);
  answer(run, 0, {inside(7, 30)});
  answer(run, 1, {outside(6)});
  BOOST_TEST(run.last<ExamineRanks>().ranks.empty());
  run.examined();
  BOOST_TEST(
      run.last<Warn>().text.starts_with("rank 1 has finished the training function, and rank 0 has been in "
                                        "gloo:all_reduce [4] Float #7 of process group world "
                                        "for 30.0 s"));
}

BOOST_AUTO_TEST_CASE(two_looks_find_a_rank_that_has_finished_outside_a_collective_of_others_and_the_attempt_fails) {
  Rig run(watched(2));
  run.to_running();
  run.returns(1);
  for (const double age_s : {30, 60}) {
    BOOST_TEST(run.count<EndWorkers>() == 0U);
    run.advance(30s);
    answer(run, 0, {inside(7, age_s)});
    answer(run, 1, {outside(6)});
    if (age_s == 30) run.examined();
  }
  run.group_ends();
  run.journals();
  BOOST_TEST(
      run.failure().starts_with("rank 1 finished the training function while rank 0 waits in gloo:all_reduce [4] Float "
                                "#7 of process group world, "
                                "which rank 1 has not entered: that can never end (attempt 1)\n"));
  BOOST_TEST(contains(run.failure(), "  rank 1: in none of process group world, after #6\n"));
  BOOST_TEST((run.outcome().failure->ranks.at(0).kind == RankFailureKind::unmatched_collective));
}

BOOST_AUTO_TEST_CASE(a_finished_rank_that_is_not_known_to_be_outside_of_the_collective_ends_nothing) {
  Rig run(watched(3));
  run.to_running();
  run.returns(1);
  for (const double age_s : {30, 60, 90}) {
    run.advance(30s);
    answer(run, 0, {inside(7, age_s, {0, 1, 2})});
    answer(run, 1, {});                       // It has left its process group.
    answer(run, 2, {outside(6, {0, 1, 2})});  // It is at work, and may come.
    if (run.count<ExamineRanks>() > run.count<Warn>()) run.examined();
  }
  BOOST_TEST(run.count<EndWorkers>() == 0U);
}

BOOST_AUTO_TEST_CASE(a_rank_in_a_report_and_one_in_a_collective_wait_for_each_other_and_one_sentence_says_so) {
  Rig run(watched(2));
  run.to_running();
  run.report(0);
  run.advance(30s);
  answer(run, 0, {outside(6)});
  answer(run, 1, {inside(7, 30)});
  run.examined();
  BOOST_TEST(
      contains(run.last<Warn>().text,
               "(attempt 1)\nEach of these waits is for the other: rank 0 waits in report #1, and rank 1 is in "
               "gloo:all_reduce [4] Float #7 of process group world, which rank 0 has not entered. Every rank must "
               "call report() equally often, "));
}

BOOST_AUTO_TEST_CASE(a_rank_in_a_collective_without_the_one_that_reports_is_no_crossing) {
  Rig run(watched(3));
  run.to_running();
  run.report(0);
  run.advance(30s);
  answer(run, 0, {outside(6, {0, 1, 2})});
  answer(run, 1, {inside(3, 30, {1, 2}, "model")});
  answer(run, 2, {outside(2, {1, 2}, "model")});
  run.examined();
  BOOST_TEST(!contains(run.last<Warn>().text, "Each of these waits"));
}

BOOST_AUTO_TEST_CASE(a_rank_that_is_just_looked_at_may_answer_late) {
  Rig run(watched(2, 10));
  run.to_running();
  run.advance(10s);
  answer(run, 0, {inside(7, 10)});
  answer(run, 1, {inside(7, 10)});
  BOOST_TEST(run.last<ExamineRanks>().ranks == (std::vector<int>{0, 1}));
  const std::size_t looks = run.count<LookAtCollectives>();
  run.advance(30s);
  BOOST_TEST(run.count<LookAtCollectives>() == looks);
  run.examined();
  BOOST_TEST(contains(run.last<Warn>().text, "which every rank has entered"));
}

BOOST_AUTO_TEST_CASE(they_go_on_and_one_line_says_so) {
  Rig run(watched(2));
  run.to_running();
  run.advance(30s);
  answer(run, 0, {inside(7, 30)});
  answer(run, 1, {outside(6)});
  run.examined();
  run.advance(30s);
  answer(run, 0, {outside(9)});
  answer(run, 1, {outside(9)});
  BOOST_TEST(run.last<Notify>().text == "the ranks have left their collective, after 60.0 s");
}

BOOST_AUTO_TEST_CASE(the_limit_passes_and_the_attempt_fails_for_the_rank_that_has_not_entered) {
  Rig run(watched(2, std::nullopt, 60));
  run.to_running();
  run.advance(60s);
  answer(run, 0, {inside(7, 60)});
  answer(run, 1, {outside(6)});
  run.examined();
  run.group_ends();
  run.journals();
  BOOST_TEST(
      run.failure().starts_with("rank 1 has not entered gloo:all_reduce [4] Float #7 of process group world, in which "
                                "rank 0 has been for 60.0 s, in attempt 1\n"));
  BOOST_TEST(run.outcome().failure->in_collective);
}

BOOST_AUTO_TEST_CASE(the_warning_stays_one_while_the_ranks_are_asked_again) {
  Rig run(watched(2, 10));
  run.to_running();
  std::size_t warnings = 0;
  for (int second = 1; second <= 75; ++second) {
    const std::size_t looks = run.count<LookAtCollectives>();
    run.advance(1s);
    if (run.count<LookAtCollectives>() == looks) continue;
    answer(run, 0, {inside(7, second + 0.01 * (second % 3))});
    answer(run, 1, {outside(6)});
    if (run.count<ExamineRanks>() == warnings) continue;
    ++warnings;
    run.examined();
  }
  BOOST_TEST(warnings == 3U);  // After 10, 30 and 70 s.
  BOOST_TEST(run.count<Notify>() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::control
