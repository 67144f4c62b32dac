#include "driver/tune/experiment_journal.hpp"

#include "storage/disk/file.hpp"
#include "storage/scratch.hpp"

#include <boost/test/unit_test.hpp>

#include <deque>
#include <filesystem>
#include <set>

/// What is left of an experiment whose driver died at any byte.
namespace headway::driver {

namespace tune = control::tune;

namespace {

using namespace std::chrono_literals;

struct WithJournal : storage::Scratch {
  WithJournal() {
    tune::ExperimentSpec spec;
    spec.path = root;
    add(tune::DriverBegan{spec, 0});
    for (int i = 0; i < 3; ++i) {
      const std::string id = "t" + std::to_string(i);
      add(tune::TrialSuggested{id, R"({"depth": 3, "name": "größe"})", id});
    }
    add(tune::TrialReported{0, 1, {{"loss", 0.5}}});
    add(tune::TrialGone{0, "finished", "done"});
    add(tune::SearchOver{});
  }
  void add(const tune::TuneEvent& event) {
    now += 1s;
    text += journal_line(now, event);
    ends.push_back(text.size());
  }
  std::string journal_path() const { return root + "/" + experiment_journal_name; }
  void write(const std::string& content) const { storage::must(storage::write_whole(journal_path(), content)); }

  Time now{};
  std::string text;
  std::vector<std::size_t> ends;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(experiment_journal_suite, WithJournal)

BOOST_AUTO_TEST_CASE(every_whole_line_counts_wherever_the_writer_died) {
  for (std::size_t bytes = 0; bytes <= text.size(); ++bytes) {
    write(text.substr(0, bytes));
    const FoundExperiment found = storage::must(find_experiment(root));
    const auto whole = static_cast<std::size_t>(std::ranges::upper_bound(ends, bytes) - ends.begin());
    BOOST_TEST_CONTEXT(bytes << " bytes") {
      BOOST_TEST(found.whole_bytes == (whole == 0 ? 0 : ends[whole - 1]));
      BOOST_TEST((found.at == Time(whole * 1s)));
      BOOST_TEST(found.controller.trials().size() == std::clamp<std::size_t>(whole, 1, 4) - 1);
      BOOST_TEST(found.controller.search_over() == (whole == ends.size()));
    }
  }
}

BOOST_AUTO_TEST_CASE(wherever_the_writer_died_what_has_ended_stays_and_the_rest_runs_once) {
  for (std::size_t bytes = 0; bytes <= text.size(); ++bytes) {
    write(text.substr(0, bytes));
    tune::TuneController controller = storage::must(find_experiment(root)).controller;
    std::set<std::int64_t> ended;
    for (std::size_t i = 0; i < controller.trials().size(); ++i) {
      if (is_over(controller.trials()[i].state)) ended.insert(static_cast<std::int64_t>(i));
    }
    tune::ExperimentSpec spec;
    spec.path = root;
    spec.restore.unfinished = true;
    std::deque<tune::TuneEvent> events = {tune::DriverBegan{spec, 0}};
    std::vector<std::int64_t> started;
    bool finished = false;
    for (; !events.empty(); events.pop_front()) {
      for (const tune::TuneCommand& command : controller.handle(now, events.front())) {
        if (const auto* start = std::get_if<tune::StartTrial>(&command)) {
          started.push_back(start->trial);
          events.emplace_back(tune::TrialReady{start->trial});
          events.emplace_back(tune::TrialGone{start->trial, "finished", ""});
        }
        if (std::holds_alternative<tune::AskSuggestions>(command)) events.emplace_back(tune::SearchOver{});
        finished = finished || std::holds_alternative<tune::FinishExperiment>(command);
      }
    }
    BOOST_TEST_CONTEXT(bytes << " bytes") {
      BOOST_TEST(finished);
      BOOST_TEST(started.size() + ended.size() == controller.trials().size());
      ended.insert(started.begin(), started.end());
      BOOST_TEST(ended.size() == controller.trials().size());
    }
  }
}

BOOST_AUTO_TEST_CASE(the_next_driver_writes_on_behind_the_last_whole_line) {
  write(text.substr(0, text.size() - 3));
  const FoundExperiment found = storage::must(find_experiment(root));
  ExperimentJournal journal = storage::must(ExperimentJournal::open(root, found.whole_bytes));
  storage::must(journal.append(journal_line(now, tune::TrialSuggested{"t3", "{}", "t3"})));
  const FoundExperiment again = storage::must(find_experiment(root));
  BOOST_TEST(again.controller.trials().size() == 4U);
  BOOST_TEST(!again.controller.search_over());
  BOOST_TEST(again.whole_bytes == std::filesystem::file_size(journal_path()));
}

BOOST_AUTO_TEST_CASE(a_damaged_last_line_does_not_count) {
  std::string damaged = text;
  damaged[ends[ends.size() - 2] + 20] ^= 1;
  write(damaged);
  const FoundExperiment found = storage::must(find_experiment(root));
  BOOST_TEST(found.whole_bytes == ends[ends.size() - 2]);
  BOOST_TEST(!found.controller.search_over());
}

BOOST_AUTO_TEST_CASE(what_follows_a_damaged_line_is_not_given_up) {
  std::string damaged = text;
  damaged[ends[2] + 20] ^= 1;
  write(damaged);
  const Error error = find_experiment(root).error();
  BOOST_TEST((error.kind == ErrorKind::corrupted));
  BOOST_TEST(error.message == journal_path() + " is damaged at byte " + std::to_string(ends[2]));
}

BOOST_AUTO_TEST_CASE(an_event_of_another_version_is_refused) {
  const std::string known = R"("is":"search_over")";
  std::string line = tune::to_line(now, tune::SearchOver{});
  line.replace(line.find(known), known.size(), R"("is":"trial_moved")");
  write(text + line_of(line));
  const Error error = find_experiment(root).error();
  BOOST_TEST((error.kind == ErrorKind::corrupted));
  BOOST_TEST(error.message.find("no event is \"trial_moved\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_folder_without_a_journal_is_no_experiment) {
  BOOST_TEST((find_experiment(root).error().kind == ErrorKind::not_found));
  BOOST_TEST((read_experiment(root).error().kind == ErrorKind::not_found));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
