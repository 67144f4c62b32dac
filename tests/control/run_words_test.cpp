#include "control/run_words.hpp"
#include "control/rig.hpp"

/// The first and the last line that a run shows.
namespace headway::control {

namespace {

WorkerPlan on(const std::string& host, std::vector<std::string> gpus = {}) {
  WorkerPlan plan;
  plan.slot.node_id = host;
  plan.slot.hostname = host;
  plan.slot.gpu_ids = std::move(gpus);
  return plan;
}

RunSpec digits_on(int workers) {
  RunSpec spec;
  spec.run.name = "digits";
  spec.run.storage_path = "/data/runs";
  spec.scaling.num_workers = workers;
  return spec;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_first_line_says_which_workers_on_what_and_where_results_go) {
  BOOST_TEST(begin_words(digits_on(2), {on("a"), on("a")}) == "2 workers on CPUs of a; results: /data/runs/digits");
  BOOST_TEST(begin_words(digits_on(1), {on("a", {"0"})}) == "1 worker on 1 GPU of a; results: /data/runs/digits");
  BOOST_TEST(begin_words(digits_on(3), {on("a", {"0"}), on("a", {"1"}), on("b", {"0"})}) ==
             "3 workers on 3 GPUs of 2 nodes; results: /data/runs/digits");
  BOOST_TEST(begin_words(digits_on(0), {on("a")}) == "trains in this process; results: /data/runs/digits");
  BOOST_TEST(begin_words(digits_on(0), {on("a"), on("a")}) == "2 ranks of torchrun; results: /data/runs/digits");
}

BOOST_AUTO_TEST_CASE(the_last_line_names_the_best_checkpoint_with_its_score) {
  RunSpec spec = digits_on(2);
  spec.checkpoint.checkpoint_score_attribute = "eval/accuracy";
  CheckpointBook book(spec.checkpoint);
  book.commit("checkpoint_000000", {{"eval", JsonObject{{"accuracy", 0.97021}}}});
  book.commit("checkpoint_000001", {{"eval", JsonObject{{"accuracy", 0.5}}}});
  BOOST_TEST(end_words(spec, book, {"finished", 12300ms, 20, 20, 1}) ==
             "finished in 12 s: 20 reports, 1 restart; best checkpoint: /data/runs/digits/checkpoint_000000 "
             "(eval/accuracy 0.9702)");
  spec.checkpoint.checkpoint_score_order = "min";
  BOOST_TEST(end_words(spec, book, {"finished", 1s, 1, 1, 0, "not data-bound (ranks waited 1 %)"})
                 .starts_with("finished in 1.0 s: 1 report; not data-bound (ranks waited 1 %); "));
  BOOST_TEST(end_words(spec, book, {"finished", 1s, 1, 1, 0}) ==
             "finished in 1.0 s: 1 report; best checkpoint: /data/runs/digits/checkpoint_000001 (eval/accuracy 0.5)");
}

BOOST_AUTO_TEST_CASE(without_a_score_the_last_line_names_the_newest_checkpoint) {
  const RunSpec spec = digits_on(2);
  CheckpointBook book(spec.checkpoint);
  BOOST_TEST(end_words(spec, book, {"errored", 90s, 0, 0, 2}) ==
             "failed after 90 s: 0 reports, 2 restarts; no checkpoint; results: /data/runs/digits");
  book.commit("checkpoint_000000", {});
  BOOST_TEST(end_words(spec, book, {"aborted", 200s, 1, 1, 0}) ==
             "aborted after 3 min 20 s: 1 report; newest checkpoint: /data/runs/digits/checkpoint_000000");
}

BOOST_AUTO_TEST_CASE(the_last_line_of_a_resumed_run_says_how_many_of_its_reports_are_new) {
  const RunSpec spec = digits_on(2);
  const CheckpointBook book(spec.checkpoint);
  BOOST_TEST(end_words(spec, book, {"finished", 1s, 8, 3, 0}) ==
             "finished in 1.0 s: 8 reports (3 new); no checkpoint; results: /data/runs/digits");
  BOOST_TEST(end_words(spec, book, {"finished", 1s, 8, 0, 0}) ==
             "finished in 1.0 s: 8 reports (none new); no checkpoint; results: /data/runs/digits");
}

BOOST_AUTO_TEST_CASE(a_span_is_in_the_units_that_people_use) {
  BOOST_TEST(span_words(840ms) == "0.8 s");
  BOOST_TEST(span_words(119s) == "119 s");
  BOOST_TEST(span_words(7199s) == "119 min 59 s");
  BOOST_TEST(span_words(7500s) == "2 h 5 min");
}

BOOST_AUTO_TEST_CASE(a_run_begins_and_ends_with_its_words_and_a_restart_has_only_its_notice) {
  Rig run(spec_of(2, 1));
  run.to_running();
  BOOST_TEST(run.last<StartWorkers>().words == "2 workers on CPUs of host-a; results: /storage/run");
  run.raises(0, "x");
  run.group_ends();
  BOOST_TEST(run.last<StartWorkers>().attempt == 2);
  BOOST_TEST(run.last<StartWorkers>().words == "");
  run.send(DriverEnding{"shutdown"});
  BOOST_TEST(run.last<Finish>().words ==
             "aborted after 0.0 s: 0 reports, 1 restart; no checkpoint; results: /storage/run");
}

}  // namespace headway::control
