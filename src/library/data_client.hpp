#pragma once

#include <headway/data/batch.hpp>
#include <headway/result.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

/// What the public data sets ask of the data process. Plans and positions go as JSON text, as in
/// worker_bridge.hpp.
namespace headway::library {

/// Whether the data process's program is there. Errors: `unavailable`, which says where it was
/// looked for.
Result<void> find_data_program();

/// Errors: `invalid_argument`.
Result<void> check_data_plan(const std::string& plan_json);

/// The answer to a question ("count", "schema") about a plan, as JSON.
Result<std::string> ask_data(const std::string& what, const std::string& plan_json);

/// Runs a plan that ends in a write, until all is written.
Result<void> run_data(const std::string& plan_json);

/// A seed that is the same for the same text, below 2^62.
std::uint64_t seed_of(const std::string& text);

/// Batches of one epoch.
class DataStream {
 public:
  struct Taken {
    data::Batch batch;
    std::function<std::string()> cursor_json;  ///< The position after it.
  };

  virtual ~DataStream() = default;
  /// Waits for the next batch; nothing at the end.
  virtual Result<std::optional<Taken>> next() = 0;
};

/// `consumption_json`: fields of feed::Consumption. `name`: of a trainer's data set, whose waits
/// are reported to the driver; empty for another one. Errors of the plan come with the first
/// `next`.
Result<std::unique_ptr<DataStream>> open_data(const std::string& plan_json, const std::string& consumption_json,
                                              const std::string& name);

/// This process needs its data process no more.
void leave_data_process();

}  // namespace headway::library
