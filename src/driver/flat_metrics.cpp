#include "driver/flat_metrics.hpp"

#include <unordered_map>

namespace headway::driver {
namespace {

class Flattening {
 public:
  void add(const JsonObject& metrics, const std::string& above, int depth) {
    for (const auto& metric : metrics) {
      std::string name = above + std::string(metric.key());
      if (metric.value().is_object()) {
        add(metric.value().get_object(), name + "/", depth + 1);
      } else {
        add_value(std::move(name), &metric.value(), depth);
      }
    }
  }

  FlatMetrics take() { return std::move(flat_); }

 private:
  struct Place {
    std::size_t index = 0;
    int depth = 0;
  };

  void add_value(std::string name, const Json* value, int depth) {
    const auto [found, added] = places_.try_emplace(name, Place{flat_.size(), depth});
    if (added) {
      flat_.emplace_back(std::move(name), value);
    } else if (depth < found->second.depth) {
      found->second.depth = depth;
      flat_[found->second.index].second = value;
    }
  }

  FlatMetrics flat_;
  std::unordered_map<std::string, Place> places_;
};

}  // namespace

FlatMetrics flat_metrics(const JsonObject& metrics) {
  Flattening flattening;
  flattening.add(metrics, "", 0);
  return flattening.take();
}

}  // namespace headway::driver
