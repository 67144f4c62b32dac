#pragma once

#include <headway/checkpoint.hpp>
#include <headway/export.hpp>
#include <headway/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headway {

/// Hears of a run as it goes on, in the driver, on the thread that called `Trainer::fit`: derive
/// from it and name it in `TrainerOptions::callbacks`. Ranks may be a few reports ahead; when `fit`
/// has returned, all were heard. What a callback throws fails the run.
///
///     struct Printer : headway::Callback {
///       void after_report(const std::vector<headway::Json>& metrics, const std::optional<headway::Checkpoint>&) override {
///         std::cout << metrics.at(0).dump() << '\n';
///       }
///     };
class HEADWAY_API Callback {
 public:
  virtual ~Callback();

  /// A report is recorded. `metrics`: by rank, what it reported; `checkpoint`: the committed one,
  /// where the report has one.
  virtual void after_report(const std::vector<Json>& metrics, const std::optional<Checkpoint>& checkpoint);

  /// An attempt has failed. `failures`: by rank, how it failed, in words; another attempt may
  /// follow.
  virtual void after_exception(const std::map<int, std::string>& failures);
};

}  // namespace headway
