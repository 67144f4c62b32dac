#pragma once

#include "control/growth_watch.hpp"
#include "core/config.hpp"

#include <optional>
#include <string>

namespace headway::control {

/// How many workers a run's group may have and has. An elastic group shrinks by what any group does
/// when it is started again; here it grows.
class ElasticSize {
 public:
  explicit ElasticSize(const RunSpec& spec)
      : min_(group_size_min(spec)), max_(group_size(spec)), growth_(spec.scaling.elastic_resize_monitor_interval_s) {}

  bool elastic() const { return min_ < max_; }
  int min() const { return min_; }
  int max() const { return max_; }

  GrowthWatch& growth() { return growth_; }
  const GrowthWatch& growth() const { return growth_; }

  /// The attempt ends so that a larger group may go on; it has not failed.
  void resize() { resizing_ = true; }
  bool resizing() const { return resizing_; }
  /// Whether the group's end calls for new nodes: it was ended to grow, or there may be more
  /// capacity for it.
  bool wants_nodes(int workers);

  /// A notice of an elastic group's size, when the size has changed.
  std::optional<std::string> size_notice(int workers);

 private:
  int min_;
  int max_;
  GrowthWatch growth_;
  bool resizing_ = false;
  int told_ = 0;
};

}  // namespace headway::control
