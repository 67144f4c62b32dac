#include "dashboard/file_site.hpp"

#include "dashboard/inline_page.hpp"
#include "dashboard/log_view.hpp"
#include "driver/run_history.hpp"
#include "driver/tune/experiment_journal.hpp"
#include "storage/scratch.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>

/// Runs and experiments by their files alone.
namespace headway::dashboard {

namespace {

namespace tune = control::tune;
using namespace std::chrono_literals;

struct Recorded : storage::Scratch {
  static void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary | std::ios::app) << text;
  }
  std::string folder(const std::string& name) const { return root + "/results/" + name; }

  void add_run(const std::string& name, const std::string& state, const std::string& failure = "") const {
    control::Journal journal;
    journal.state = state;
    journal.attempt = 2;
    journal.reports = 3;
    journal.attempt_ends = {"rank 1 died: SIGKILL"};
    journal.time_total_s = 30;
    journal.written_unix_s = 1030;
    if (!failure.empty()) journal.failure = failure;
    journal.spec.run.name = name;
    journal.spec.run.storage_path = root + "/results";
    journal.checkpoints = {{"checkpoint_000001", 1, {}, 1, {}}};
    write(folder(name) + "/run.json", to_json_text(journal));
    std::string results;
    for (int step = 1; step <= 3; ++step) {
      results += R"({"training_iteration":)" + std::to_string(step) + R"(,"time_total_s":)" + std::to_string(step) +
                 R"(,"time_since_restore":)" + std::to_string(step) + R"(,"timestamp":1001,"loss":)" +
                 std::to_string(4 - step) + "}\n";
    }
    write(folder(name) + "/result.json", results + "{\"half");
    const auto tell = [&](double at, driver::HistoryEvent event) {
      write(folder(name) + "/" + driver::history_file, driver::history_line(at, std::move(event)) + "\n");
    };
    tell(1000, driver::AttemptBegan{1, {"a", "b"}, {}});
    tell(1001.5, driver::CheckpointStored{"checkpoint_000000", 0, 10, 1, 0.1});
    tell(1002, driver::AttemptEnded{1, "rank 1 died: SIGKILL"});
    tell(1002, driver::StacksSeen{1, {{1, "at train.py:41\n"}}});
    tell(1002.5, driver::AttemptBegan{2, {"a", "b"}, "checkpoint_000000"});
    tell(1003, driver::CheckpointStored{"checkpoint_000001", 1, 10, 1, 0.1});
    tell(1003, driver::CheckpointGone{"checkpoint_000000", "num_to_keep is 1"});
    tell(1004, driver::RunEnded{state});
    write(folder(name) + "/params.json", R"({"lr":0.1,"api_key":"sk-1"})");
    write(folder(name) + "/logs/rank_1.log", "one\nTWO token=abc\nthree\n");
  }

  /// What its ranks did since, of which the second one was slow.
  void add_steps(const std::string& name, int looks) const {
    std::string lines;
    for (int look = 1; look <= looks; ++look) {
      driver::StepsTaken steps{2, {}};
      for (const int rank : {0, 1, 2}) {
        const double waited_s = rank == 1 ? 0.1 : 0.9;
        steps.ranks.push_back({.rank = rank,
                               .count = std::int64_t{100} * look,
                               .total_s = 150.0 * look,
                               .waited_s = 100 * look * waited_s});
      }
      lines += driver::history_line(1003 + look, steps) + "\n";
    }
    write(folder(name) + "/" + driver::history_file, lines);
  }

  void add_experiment(const std::string& name) const {
    tune::ExperimentSpec spec;
    spec.path = folder(name);
    spec.metric = "loss";
    spec.mode = "min";
    std::string text;
    Time now{};
    const auto add = [&](const tune::TuneEvent& event) {
      now += 1s;
      text += driver::journal_line(now, event);
    };
    add(tune::DriverBegan{spec, 1000});
    for (int trial = 0; trial < 3; ++trial) {
      const std::string number = std::to_string(trial);
      add(tune::TrialSuggested{"t" + number,
                               R"({"lr": 0.0)" + std::to_string(trial + 1) + R"(, "optimizer": ")" +
                                   (trial == 1 ? "sgd" : "adam w") + R"(", "token": "abc"})",
                               "trial_" + number});
    }
    for (std::int64_t trial = 0; trial < 3; ++trial) {
      add(tune::TrialReady{trial});
      add(tune::TrialReported{trial, 1, {{"loss", 3.0 - static_cast<double>(trial)}}});
      if (trial < 2) add(tune::TrialGone{trial, trial == 1 ? "errored" : "finished", trial == 1 ? "a defect" : ""});
    }
    write(spec.path + "/" + driver::experiment_journal_name, text);
  }

  /// Of two trials under PBT the worse one continues from the other one's checkpoint.
  void add_population(const std::string& name) const {
    tune::ExperimentSpec spec;
    spec.path = folder(name);
    spec.metric = "score";
    spec.mode = "max";
    spec.scheduler = {
        {"kind", "pbt"}, {"time_attr", "training_iteration"}, {"perturbation_interval", 2}, {"log_config", false}};
    const auto report = [](std::int64_t trial, std::int64_t number, double iteration, double score) {
      const std::string checkpoint = "checkpoint_" + std::to_string(number);
      return tune::TrialReported{trial, number, {{"score", score}, {"training_iteration", iteration}}, {}, checkpoint};
    };
    std::string text;
    for (const tune::TuneEvent& event : std::initializer_list<tune::TuneEvent>{
             tune::DriverBegan{spec, 1000}, tune::TrialSuggested{"a", R"({"lr": 1, "token": "x"})", "trial_a"},
             tune::TrialSuggested{"b", R"({"lr": 3, "token": "x"})", "trial_b"}, tune::SearchOver{},
             tune::TrialReady{0}, tune::TrialReady{1}, report(1, 1, 2, 1), report(0, 1, 2, 9), report(1, 2, 4, 1),
             tune::TrialConfigured{1, 1, R"({"lr": 2, "token": "y"})"}, tune::TrialGone{1, "finished", ""},
             tune::CheckpointCloned{1, 1, "checkpoint_9"}}) {
      text += driver::journal_line(Time{}, event);
    }
    write(spec.path + "/" + driver::experiment_journal_name, text);
  }

  std::unique_ptr<FileSite> open(const std::string& location) const {
    auto site = FileSite::open("FOLDER", location);
    BOOST_REQUIRE(site.has_value());
    return std::move(*site);
  }
  static Json ask(Site& site, const std::string& target, unsigned status = 200) {
    const Answer answer = site.answer(parse_target(target).value());
    BOOST_TEST_CONTEXT(target << " " << answer.body.substr(0, 300)) BOOST_TEST(answer.status == status);
    return parse_json(answer.body, target).value();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(file_site_suite, Recorded)

BOOST_AUTO_TEST_CASE(a_finished_run_says_what_became_of_it) {
  add_run("digits", "errored", "ValueError: bad batch\nTraceback");
  const auto site = open(folder("digits"));
  const Json state = ask(*site, "/api/state");
  BOOST_TEST(state.at("mode").as_string() == "files");
  const Json& listed = state.at("runs").at(0);
  BOOST_TEST(listed.at("verdict").at("words").as_string() == "failed: ValueError: bad batch");
  BOOST_TEST(listed.at("last").at("loss").to_number<double>() == 1);
  const Json run = ask(*site, "/api/runs/digits");
  BOOST_TEST(run.at("attempts").as_array().size() == 2U);
  BOOST_TEST(run.at("attempts").at(0).at("end_words").as_string() == "rank 1 died: SIGKILL");
  BOOST_TEST(run.at("checkpoints").at(0).at("why_deleted").as_string() == "num_to_keep is 1");
  BOOST_TEST(run.at("checkpoints").at(1).at("kept").as_bool());
  BOOST_TEST(run.at("stacks").at(0).at("text").as_string() == "at train.py:41\n");
  BOOST_TEST(run.at("config").at("api_key").as_string() == "***");
  BOOST_TEST(run.at("logs").at(0).at("rank").as_int64() == 1);
  BOOST_TEST(run.at("failure").at("message").as_string() == "ValueError: bad batch\nTraceback");
  ask(*site, "/api/runs/other", 404);
  ask(*site, "/api/runs/digits/nothing", 404);
  ask(*site, "/api/runs/..", 404);
  ask(*site, "/api/runs/..%2F..%2Fetc", 404);
  ask(*site, "/api/experiments/digits", 404);
}

BOOST_AUTO_TEST_CASE(the_list_says_why_a_run_that_is_over_was_slow) {
  const std::string slow =
      "slow: rank 1 on b was 2.3 times slower than the others, which waited for it; it took 1.40 s "
      "for its own part of a step (without waiting), the others 0.6 s";
  const auto cause = [this](const std::string& name) {
    return file_summary(folder(name), name, true).value().cause.value_or("none");
  };
  add_run("quick", "finished");
  BOOST_TEST(cause("quick") == "none");
  add_run("slow", "finished");
  add_steps("slow", 2);
  BOOST_TEST(cause("slow") == slow);
  BOOST_TEST(file_summary(folder("slow"), "slow", true).value().restart.value() ==
             "restarted once: rank 1 died: SIGKILL; resumed from checkpoint_000000");
  // Of a history of days the middle is not read.
  add_run("long", "finished");
  add_steps("long", 4000);
  BOOST_TEST(std::filesystem::file_size(folder("long") + "/" + driver::history_file) > 1'000'000U);
  BOOST_TEST(cause("long") == slow);
  // What trains has it in its verdict.
  add_run("training", "running");
  add_steps("training", 2);
  BOOST_TEST(cause("training") == "none");
  // The page has it with the second look.
  const auto site = open(folder("slow"));
  while (site->events().newest()->text().find("\"cause\":\"" + slow) == std::string::npos) {
  }
}

BOOST_AUTO_TEST_CASE(curves_have_marks_where_something_happened) {
  add_run("digits", "finished");
  const auto site = open(folder("digits"));
  BOOST_TEST(ask(*site, "/api/runs/digits/metrics").at("names").at(0).as_string() == "loss");
  const Json series = ask(*site, "/api/series?run=digits&metric=loss");
  BOOST_TEST(json_text(series.at("last")) == "[3E0,2E0,1E0]");
  std::string kinds;
  for (const Json& mark : series.at("marks").as_array())
    kinds += mark.at("kind").as_string().c_str() + std::string(" ");
  BOOST_TEST(kinds == "failure restart checkpoint checkpoint ");
  BOOST_TEST(ask(*site, "/api/series?run=digits&metric=loss&x=time").at("x").at(2).to_number<double>() == 1003);
  ask(*site, "/api/series?run=digits&metric=accuracy", 404);
  BOOST_TEST(ask(*site, "/api/series?run=digits&metric=loss&points=x", 400).at("error").as_string() ==
             "points is 'x'; allowed: a number");
  ask(*site, "/api/series?run=digits&metric=loss&x=space", 400);
  ask(*site, "/api/runs/digits/steps");
}

BOOST_AUTO_TEST_CASE(logs_are_read_in_pieces_and_searched) {
  add_run("digits", "finished");
  const auto site = open(folder("digits"));
  const Json end = ask(*site, "/api/runs/digits/logs?rank=1");
  BOOST_TEST(end.at("text").as_string() == "one\nTWO token=***\nthree\n");
  const Json found = ask(*site, "/api/runs/digits/logs?rank=1&find=two&after=0");
  BOOST_TEST(found.at("from").as_int64() == 4);
  BOOST_TEST(found.at("found").as_int64() == 4);
  BOOST_TEST(found.at("text").as_string() == "TWO token=***\nthree\n");
  const Json before = ask(*site, "/api/runs/digits/logs?rank=1&find=one&before=10");
  BOOST_TEST(before.at("text").as_string() == "one\n");
  BOOST_TEST(before.at("to").as_int64() == 4);
  BOOST_TEST(ask(*site, "/api/runs/digits/logs?rank=1&find=four&after=0").at("found").is_null());
  BOOST_TEST(ask(*site, "/api/runs/digits/logs?rank=1&limit=8").at("text").as_string() == "three\n");
  ask(*site, "/api/runs/digits/logs?rank=7", 404);
  ask(*site, "/api/runs/digits/logs?rank=..", 400);
}

BOOST_AUTO_TEST_CASE(a_run_that_its_driver_left_is_lost) {
  add_run("digits", "running");
  const auto site = open(root + "/results");
  const Json run = ask(*site, "/api/state").at("runs").at(0);
  BOOST_TEST(run.at("state").as_string() == "lost");
  BOOST_TEST(run.at("verdict").at("level").as_string() == "bad");
}

BOOST_AUTO_TEST_CASE(an_experiment_is_a_table_that_is_sorted_and_filtered) {
  add_experiment("search");
  add_run("alone", "finished");
  const auto site = open(root + "/results");
  const Json state = ask(*site, "/api/state");
  BOOST_TEST(state.at("runs").as_array().size() == 1U);
  const Json& listed = state.at("experiments").at(0);
  BOOST_TEST(json_text(listed.at("trials")) == R"({"total":3,"running":1,"waiting":0,"ended":2,"failed":1})");
  BOOST_TEST(listed.at("best").at("trial").as_string() == "t2");
  const auto ids = [&](const std::string& query) {
    std::string text;
    const Json trials = ask(*site, "/api/experiments/search/trials?" + query);
    for (const Json& row : trials.at("rows").as_array()) text += row.at("id").as_string().c_str();
    return text;
  };
  BOOST_TEST(ids("") == "t0t1t2");
  BOOST_TEST(ids("sort=last.loss") == "t2t1t0");
  BOOST_TEST(ids("sort=config.lr&descending=1&count=2") == "t2t1");
  BOOST_TEST(ids("from=1&count=1") == "t1");
  BOOST_TEST(ids("filter=lr%3C0.025") == "t0t1");
  BOOST_TEST(ids("filter=optimizer%3D%22adam+w%22+loss%3E%3D2") == "t0");
  BOOST_TEST(ids("filter=DEFECT") == "t1");
  BOOST_TEST(ids("filter=optimizer!%3Dsgd+state%3Drunning") == "t2");
  ask(*site, "/api/experiments/search/trials?filter=%3D1", 400);
  ask(*site, "/api/experiments/search/trials?filter=%22open", 400);
  const Json row = ask(*site, "/api/experiments/search/trials?filter=t1").at("rows").at(0);
  BOOST_TEST(row.at("why_ended").as_string() == "a defect");
  BOOST_TEST(row.at("config").at("token").as_string() == "***");
}

BOOST_AUTO_TEST_CASE(an_experiments_pictures_have_their_numbers) {
  add_experiment("search");
  const auto site = open(folder("search"));
  const Json whole = ask(*site, "/api/experiments/search");
  BOOST_TEST(json_text(whole.at("parameters").at(0)) == R"({"name":"lr","kind":"number","min":1E-2,"max":3E-2})");
  BOOST_TEST(json_text(whole.at("parameters").at(1).at("values")) == R"(["adam w","sgd"])");
  // What is the same in all trials was not searched.
  BOOST_TEST(json_text(whole.at("best").at("searched")) == R"({"lr":3E-2,"optimizer":"adam w"})");
  const Json parallel = ask(*site, "/api/experiments/search/parallel");
  BOOST_TEST(parallel.at("rows").as_array().size() == 3U);
  BOOST_TEST(json_text(parallel.at("rows").at(1)) == "[2E-2,1,0,2E0]");
  const Json curves = ask(*site, "/api/experiments/search/curves?max=2");
  BOOST_TEST(curves.at("curves").as_array().size() == 2U);
  const Json best = ask(*site, "/api/experiments/search/best");
  BOOST_TEST(json_text(best.at("best")) == "[3E0,2E0]");
  BOOST_TEST(ask(*site, "/api/experiments/search/lineage").at("steps").as_array().empty());
}

BOOST_AUTO_TEST_CASE(a_trial_that_took_over_from_another_says_from_which_and_what_changed) {
  add_population("search");
  const auto site = open(folder("search"));
  const Json lineage = ask(*site, "/api/experiments/search/lineage");
  BOOST_TEST(lineage.at("trials").as_array().size() == 2U);
  BOOST_REQUIRE(lineage.at("steps").as_array().size() == 1U);
  BOOST_TEST(json_text(lineage.at("steps").at(0)) ==
             R"({"x":4E0,"trial":"b","from_trial":"a","from_x":2E0,"changed":[{"name":"lr","before":3,"after":2}]})");
  const Json row = ask(*site, "/api/experiments/search/trials?filter=trial_b").at("rows").at(0);
  BOOST_TEST(row.at("config").at("lr").as_int64() == 2);
}

BOOST_AUTO_TEST_CASE(a_page_without_a_server_has_the_charts_in_it) {
  add_run("digits", "finished");
  write(folder("digits") + "/result.json", "\n{\"training_iteration\":4,\"</script><b>\":7,\"loss\":1}\n");
  const auto charts = inline_charts(folder("digits"), 1, 100);
  BOOST_REQUIRE(charts.has_value());
  const Json one = parse_json(*charts, "charts").value();
  BOOST_TEST(one.at("left_out").as_int64() == 1);
  BOOST_TEST(one.at("charts").at(0).at("title").as_string() == "loss");
  BOOST_TEST(json_text(one.at("charts").at(0).at("lines").at(0).at("last")) == "[3E0,2E0,1E0,1E0]");
  BOOST_TEST(one.at("charts").at(0).at("marks").as_array().size() == 4U);
  const std::string page = inline_page(inline_charts(folder("digits"), 8, 100).value());
  // A metric's name ends no script, and nothing is asked for.
  BOOST_TEST(page.find("</script><b>") == std::string::npos);
  BOOST_TEST(page.find("\\u003c/script>\\u003cb>") != std::string::npos);
  for (const char* asking : {"src=", "href=", "http://", "from \\\"./", "@import"}) {
    BOOST_TEST(page.find(asking) == std::string::npos, asking);
  }
  BOOST_TEST((inline_charts(root, 8, 100).error().kind == ErrorKind::not_found));
}

BOOST_AUTO_TEST_CASE(a_page_without_a_server_shows_an_experiments_best) {
  add_experiment("search");
  const Json charts = parse_json(inline_charts(folder("search"), 8, 100).value(), "charts").value().at("charts");
  BOOST_TEST(charts.as_array().size() == 1U);  // Trials of one report have no curve.
  BOOST_TEST(json_text(charts.at(0).at("lines").at(0).at("last")) == "[3E0,2E0]");
  add_population("population");
  const Json curves = parse_json(inline_charts(folder("population"), 8, 100).value(), "charts").value().at("charts");
  BOOST_TEST(curves.at(1).at("title").as_string() == "score of the trials");
  BOOST_TEST(curves.at(1).at("lines").at(0).at("name").as_string() == "trial_b");
}

BOOST_AUTO_TEST_CASE(a_folder_without_runs_is_named) {
  const auto site = FileSite::open("FOLDER", root);
  BOOST_REQUIRE(!site.has_value());
  BOOST_TEST(site.error().message == "FOLDER is " + root + ", where there is no run and no experiment");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::dashboard
