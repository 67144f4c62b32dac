#include "control/status_text.hpp"
#include "control/rig.hpp"

/// The line at the end of a terminal's output, from the first second on.
namespace headway::control {

namespace {

std::string status(const Rig& run, const RunSpec& spec) { return status_text(run.controller.view(run.now), spec); }

}  // namespace

BOOST_AUTO_TEST_CASE(the_status_line_follows_a_run_from_its_start) {
  RunSpec spec = spec_of(2);
  spec.stop = std::map<std::string, double>{{"training_iteration", 10}};
  Rig run(spec);
  run.start();
  BOOST_TEST(contains(status(run, spec), "preparing storage for 0.0 s"));
  run.storage_ready();
  BOOST_TEST(contains(status(run, spec), "waiting for capacity for 2 workers"));
  run.grant();
  run.advance(1300ms);
  BOOST_TEST(contains(status(run, spec), "starting 2 workers, importing for 1.3 s"));
  run.ready(0);
  BOOST_TEST(contains(status(run, spec), "starting 2 workers (1 ready), importing for 1.3 s"));
  run.ready(1);
  BOOST_TEST(contains(status(run, spec), "setting up 2 workers for 1.3 s"));
  run.setup_done();
  run.advance(20s);
  BOOST_TEST(status(run, spec) == "training for 20 s, no report yet");
  run.report_all();
  run.advance(3s);
  run.report_all();
  run.advance(2s);
  BOOST_TEST(status(run, spec) == "report 2 · 3.0 s each · last 2.0 s ago · 24 s left");
}

BOOST_AUTO_TEST_CASE(the_status_line_shows_the_epoch_its_pace_and_what_is_left_of_it) {
  const RunSpec spec = spec_of(2);
  Rig run(spec);
  run.to_running();
  LoopProgress progress;
  const auto second = [&](int steps) {
    run.advance(1s);
    progress.at_s += 1;
    progress.steps += steps;
    progress.batches += steps;
    progress.samples = progress.batches * 64;
    progress.epoch = EpochPosition{3, progress.batches, 938};
    for (int rank = 0; rank < 2; ++rank) run.send(RankProgressed{run.attempt(), rank, progress});
  };
  for (int i = 0; i < 20; ++i) second(20);
  BOOST_TEST(status(run, spec) ==
             "epoch 3 · 400/938 batches · 27 s left in it · 20.0 steps/s · no report yet · 2560 samples/s");
  run.report_all();
  run.advance(2s);
  BOOST_TEST(status(run, spec) ==
             "epoch 3 · 400/938 batches · 27 s left in it · 20.0 steps/s · report 1, 2.0 s ago · 2560 samples/s");
  run.advance(10s);
  BOOST_TEST(status(run, spec) == "epoch 3 · 400/938 batches · last step 12 s ago · report 1, 12 s ago");
}

BOOST_AUTO_TEST_CASE(the_status_line_shows_the_pace_of_the_last_seconds_and_what_is_known_alone) {
  const RunSpec spec = spec_of(1);
  Rig run(spec);
  run.to_running();
  LoopProgress progress;
  for (int i = 0; i < 40; ++i) {
    run.advance(1s);
    progress.at_s += 1;
    progress.steps += i < 20 ? 100 : 10;
    run.send(RankProgressed{run.attempt(), 0, progress});
  }
  BOOST_TEST(status(run, spec) == "step 2200 · 10.0 steps/s · no report yet");
}

BOOST_AUTO_TEST_CASE(the_status_line_says_who_is_waited_for) {
  const RunSpec spec = spec_of(2);
  Rig run(spec);
  run.to_running();
  run.report(0);
  run.advance(7s);
  BOOST_TEST(contains(status(run, spec), "training for 7.0 s, no report yet · rank 1"));
  BOOST_TEST(contains(status(run, spec), ", in which rank 0 has waited (7.0 s)"));
}

}  // namespace headway::control
