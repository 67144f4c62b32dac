#pragma once

#include "core/config.hpp"
#include "core/json.hpp"
#include "core/manifest.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headway::sim {

/// The rule of num_to_keep, told a second time and in the plainest way: what the controller's book
/// is judged by.
class Retention {
 public:
  explicit Retention(CheckpointConfig config) : config_(std::move(config)) {}

  /// `report` is its report's index in the run; `pending`: it is to be validated, and stays until
  /// then.
  void commit(const std::string& name, std::int64_t report, const JsonObject& metrics, bool pending);
  /// What became of its validation: metrics, or nullptr when there are none.
  void settle(const std::string& name, const JsonObject* metrics);
  /// These are somebody else's, too, and no others any more: they stay.
  void pin(const std::vector<std::string>& names);
  /// A commit that was said to have failed may have been durable all the same; it may be removed.
  void commit_failed(const std::string& name) { doubtful_.insert(name); }

  /// Checkpoints by name and report.
  using Reports = std::set<std::pair<std::string, std::int64_t>>;
  /// A new driver judges anew, by what is on disk: `there`, in order of commit, without what its
  /// journal says is given up. What was to be validated is so still, if they are at all
  /// (`validates`), but for those whose outcome the journal says (`settled`).
  void take_up(const std::vector<Manifest>& there, const std::set<std::string>& given_up, bool validates,
               const Reports& settled);

  const std::vector<std::string>& kept() const { return kept_; }  ///< In order of commit.
  std::optional<std::string> newest() const;
  /// Names whose time has come; each is struck out when its deletion is ordered.
  std::set<std::string>& to_delete() { return to_delete_; }
  bool was_given_up(const std::string& name) const { return given_up_.contains(name) || doubtful_.contains(name); }
  bool keeps(const std::string& name) const;
  bool keeps(const std::string& name, std::int64_t report) const;
  bool pending(const std::string& name) const;
  bool validated(const std::string& name) const;
  bool any_pending() const;
  /// What became of validations, as far as this driver knows: metrics, or none where there are
  /// none.
  using Outcomes = std::map<std::pair<std::string, std::int64_t>, std::optional<JsonObject>>;
  const Outcomes& outcomes() const { return outcomes_; }

 private:
  struct Rated {
    std::string name;
    std::optional<double> score;  ///< The higher the better.
    int order = 0;
    std::int64_t report = 0;
    bool pending = false;
    bool validated = false;
  };
  std::optional<double> score_of(const JsonObject& metrics) const;
  void add(const std::string& name, std::int64_t report, const JsonObject& metrics, bool pending);
  void strike_out();
  const Rated* find(const std::string& name) const;

  CheckpointConfig config_;
  std::vector<Rated> rated_;  ///< Those that are kept.
  std::vector<std::string> kept_;
  std::set<std::string> pinned_;
  std::set<std::string> to_delete_;
  std::set<std::string> given_up_;
  std::set<std::string> doubtful_;
  Outcomes outcomes_;
  int commits_ = 0;
};

}  // namespace headway::sim
