#include <headway/report.hpp>

#include "library/worker_bridge.hpp"

namespace headway {
namespace {

void check_options(const ReportOptions& options) {
  if (options.upload != UploadMode::none) return;
  const std::string mode = " with UploadMode::none, which takes the checkpoint as it lies; allowed: ";
  if (options.move.value_or(false))
    throw BadResult({ErrorKind::invalid_argument, "ReportOptions.move is true" + mode + "false, or not given"});
  if (options.upload_function)
    throw BadResult({ErrorKind::invalid_argument, "ReportOptions.upload_function is given" + mode + "none"});
}

}  // namespace

void report(const Json& metrics, const std::optional<Checkpoint>& checkpoint, const ReportOptions& options) {
  using namespace library;
  if (worker_context() == nullptr) throw BadResult(outside_of_loop("headway::report()"));
  if (!metrics.is_object() && !metrics.is_null()) {
    throw BadResult({ErrorKind::invalid_argument,
                     "metrics is " + metrics.dump() + "; allowed: an object, such as {{\"loss\", 0.5}}"});
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
  worker_report(std::move(order)).value();
}

}  // namespace headway
