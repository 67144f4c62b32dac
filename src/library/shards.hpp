#pragma once

#include <optional>
#include <string>

namespace headway::library {

/// Who a rank is, for its shares.
struct ShardSetting {
  std::string trial_id;
  int world_size = 1;
  int rank = 0;
  int local_world_size = 1;
  int lanes = 1;  ///< `data::lanes_for` the machines.
};

/// The data sets of a trainer as they travel to workers: an object by name.
///
/// Gives this rank its shares of them. `positions_json`: where they stood in the checkpoint that
/// the attempt begins with, an object by name.
void give_shards(const std::string& datasets_json, const std::string& positions_json, const ShardSetting& setting);

/// Where the shares stand, as a checkpoint keeps it; nothing where no row was consumed.
std::optional<std::string> shard_positions();

}  // namespace headway::library
