#pragma once

#include "library/commit_loops.hpp"
#include "library/program_run.hpp"

#include <headway/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace headway::library {

/// The program in the mode "commit_epochs", again and again on one run's folder, with processes
/// that are killed; and what must be true of the folder in the end.
struct CommitProgram : TrainProgram {
  static inline const std::string start = can_fork ? "fork" : "exec";

  std::string in_run(const std::string& name) const {
    std::ifstream file(folder.path() + "/run/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  Ended again(const std::string& variables = "") const { return run("commit_epochs", start, variables); }

  /// Whether the driver dies there; it may have come to its end without having been there as often.
  bool dies_at(const std::string& point, const std::string& variables = "") const {
    const Ended ended = again(variables + "HEADWAY_FAULT_POINT=" + point + " ");
    BOOST_TEST_CONTEXT(point << "\n" << ended.output) { BOOST_TEST((ended.code == 137 || ended.code == 0)); }
    if (variables.empty()) check_nothing_lost();
    return ended.code == 137;
  }

  void finishes(const std::string& variables = "") const {
    const Ended ended = again(variables);
    BOOST_TEST_CONTEXT(ended.output) { BOOST_TEST(ended.code == 0); }
  }

  std::vector<Json> lines() const {
    std::istringstream text(in_run("result.json"));
    std::vector<Json> found;
    for (std::string line; std::getline(text, line);) found.push_back(Json::parse(line).value());
    return found;
  }

  /// The committed checkpoints' manifests, in order of commit.
  std::vector<Json> manifests() const {
    std::vector<Json> found;
    for (const std::string& name : files()) {
      if (name.ends_with("/.headway.json")) found.push_back(Json::parse(in_run(name)).value());
    }
    std::ranges::sort(found, {}, [](const Json& manifest) { return manifest.at("index").as_int(); });
    return found;
  }

  std::vector<std::int64_t> committed() const {
    std::vector<std::int64_t> epochs;
    for (const Json& manifest : manifests()) epochs.push_back(manifest.at("metrics").at("epoch").as_int());
    return epochs;
  }

  /// The epochs whose report has returned.
  std::vector<std::int64_t> returned() const {
    std::ifstream file(folder.path() + "/returned");
    return {std::istream_iterator<std::int64_t>(file), {}};
  }

  void check_nothing_lost() const {
    const std::vector<std::int64_t> there = committed();
    for (const std::int64_t epoch : returned()) BOOST_TEST((std::ranges::find(there, epoch) != there.end()));
  }

  /// Each epoch was reported once, committed once, and nothing else is left.
  void check_complete(std::size_t kept = test::committed_epochs, const std::string& writers = "01") const {
    const std::vector<Json> reported = lines();
    BOOST_REQUIRE(reported.size() == std::size_t{test::committed_epochs});
    std::set<std::pair<std::int64_t, std::int64_t>> places;
    for (std::size_t i = 0; i < reported.size(); ++i) {
      BOOST_TEST(reported[i].at("epoch").as_int() == static_cast<std::int64_t>(i));
      BOOST_TEST(reported[i].at("training_iteration").as_int() == static_cast<std::int64_t>(i + 1));
      BOOST_TEST(reported[i].at("trial_id").as_string() == reported[0].at("trial_id").as_string());
      places.insert({reported[i].at("attempt").as_int(), reported[i].at("report_index").as_int()});
    }
    BOOST_TEST(places.size() == reported.size());
    std::vector<std::int64_t> once = returned();
    std::ranges::sort(once);
    BOOST_TEST((std::ranges::adjacent_find(once) == once.end()));

    const std::vector<Json> records = manifests();
    BOOST_REQUIRE(records.size() == kept);
    std::set<std::string> expected;
    for (std::size_t i = 0; i < kept; ++i) {
      const std::string name = records[i].at("checkpoint").as_string();
      BOOST_TEST(reported[reported.size() - kept + i].at("checkpoint_dir_name").as_string() == name);
      expected.insert(name + "/.headway.json");
      for (const char writer : writers) expected.insert(name + "/rank_" + writer);
    }
    BOOST_TEST(ours() == expected, boost::test_tools::per_element());
    BOOST_TEST(Json::parse(in_run("run.json")).value().at("state").as_string() == "finished");
  }

 private:
  /// All files in the run's folder.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    const std::filesystem::path root = folder.path() + "/run";
    if (!std::filesystem::exists(root)) return names;
    for (const auto& each : std::filesystem::recursive_directory_iterator(root)) {
      if (each.is_regular_file()) names.push_back(each.path().lexically_relative(root).string());
    }
    return names;
  }

  /// What belongs to checkpoints. A begun marker beside a manifest means nothing: a commit removes
  /// it last of all.
  std::set<std::string> ours() const {
    std::set<std::string> names;
    for (const std::string& name : files()) {
      const bool counts =
          name.starts_with("checkpoint_") || name.starts_with(".headway.part") || name.starts_with(".headway.begun");
      if (counts && !name.ends_with("/.headway.begun")) names.insert(name);
    }
    return names;
  }
};

}  // namespace headway::library
