#include <headway/report.hpp>

#include "library/shards.hpp"
#include "library/text_check.hpp"
#include "library/worker_bridge.hpp"

namespace headway {
namespace {

void check_options(const ReportOptions& options) {
  if (options.upload != UploadMode::none) return;
  const std::string mode = " with UploadMode::none, which takes the checkpoint as it lies; allowed: ";
  if (options.upload_function)
    throw BadResult({ErrorKind::invalid_argument, "ReportOptions.upload_function is given" + mode + "none"});
}

/// The validation that is asked for, if one is.
std::optional<library::ReportOrder::Validation> asked_for(const ReportOptions& options, bool has_checkpoint) {
  const auto* own = std::get_if<ValidationTaskConfig>(&options.validation);
  if (own == nullptr && !std::get<bool>(options.validation)) return std::nullopt;
  if (!has_checkpoint) {
    throw BadResult({ErrorKind::invalid_argument,
                     "ReportOptions.validation is given without a checkpoint; allowed: together with the checkpoint to "
                     "be validated"});
  }
  if (!library::worker_validates()) {
    throw BadResult({ErrorKind::invalid_argument,
                     "ReportOptions.validation is given, and the trainer has no TrainerOptions.validation; allowed: "
                     "with {.validation = headway::ValidationConfig{.function = ...}}"});
  }
  if (own == nullptr) return library::ReportOrder::Validation{};
  if (!own->arguments.is_object()) {
    throw BadResult({ErrorKind::invalid_argument, "ValidationTaskConfig.arguments is " + own->arguments.dump() +
                                                      "; allowed: an object, such as {{\"split\", \"test\"}}"});
  }
  return library::ReportOrder::Validation{false, own->arguments.dump(), own->timeout_s};
}

}  // namespace

void report(const Json& metrics, const std::optional<Checkpoint>& checkpoint, const ReportOptions& options) {
  using namespace library;
  if (worker_context() == nullptr) throw BadResult(outside_of_loop("headway::report()"));
  if (!metrics.is_object() && !metrics.is_null()) {
    throw BadResult({ErrorKind::invalid_argument,
                     "metrics is " + metrics.dump() + "; allowed: an object, such as {{\"loss\", 0.5}}"});
  }
  check_text("metrics", metrics).value();
  if (checkpoint && checkpoint->path().empty()) {
    throw BadResult({ErrorKind::invalid_argument,
                     "checkpoint is Checkpoint::from_directory(\"\"); allowed: the path of a directory"});
  }
  if (!options.checkpoint_name.empty() && !checkpoint) {
    throw BadResult({ErrorKind::invalid_argument, "ReportOptions.checkpoint_name is \"" + options.checkpoint_name +
                                                      "\" without a checkpoint; allowed: only with one"});
  }
  check_options(options);
  ReportOrder order;
  order.metrics_json = metrics.is_null() ? "{}" : metrics.dump();
  if (checkpoint) order.checkpoint_directory = checkpoint->path();
  if (!options.checkpoint_name.empty()) order.checkpoint_name = options.checkpoint_name;
  order.asynchronous = options.upload == UploadMode::async;
  order.move = options.move.value_or(order.asynchronous);
  order.placed = checkpoint && options.upload == UploadMode::none;
  if (checkpoint && options.upload_function) {
    order.store = [function = options.upload_function, local = *checkpoint](const std::string& name) {
      return function(local, name).path();
    };
  }
  order.reduce = options.reduce;
  order.data_positions_json = shard_positions();
  order.validation = asked_for(options, checkpoint.has_value());
  worker_report(std::move(order)).value();
}

}  // namespace headway
