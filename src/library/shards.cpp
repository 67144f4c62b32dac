#include "library/shards.hpp"

#include <headway/data/shard.hpp>

#include "library/data_client.hpp"
#include "library/data_iterator.hpp"
#include "library/worker_bridge.hpp"

#include <map>
#include <memory>

namespace headway {
namespace library {
namespace {

using States = std::map<std::string, std::shared_ptr<data::IteratorState>>;

/// Filled before the loop is called. Never destroyed: a worker leaves without destructors.
States& shards() {
  static States& made = *new States;
  return made;
}

}  // namespace

void give_shards(const std::string& datasets_json, const std::string& positions_json, const ShardSetting& setting) {
  const Json datasets = Json::parse(datasets_json).value();
  const Json positions = Json::parse(positions_json).value();
  for (const auto& [name, described] : datasets.as_object()) {
    auto state = std::make_shared<data::IteratorState>(data::Dataset::from_json(described));
    state->name = name;
    state->more = true;
    if (described.at("split").as_bool()) {
      state->group = name;
      state->world_size = setting.world_size;
      state->rank = setting.rank;
      state->clients_here = setting.local_world_size;
      state->lanes = setting.lanes;
    }
    // The same after a restart, and in each rank.
    state->seed = seed_of(setting.trial_id + "/" + name);
    if (const Json* position = positions.find(name)) data::DataIterator(state).load_state(*position);
    shards()[name] = std::move(state);
  }
}

std::optional<std::string> shard_positions() {
  Json positions = Json::object();
  for (const auto& [name, state] : shards()) {
    if (state->epoch == 0 && !state->place) continue;
    positions[name] = data::DataIterator(state).state();
  }
  if (positions.size() == 0) return std::nullopt;
  return positions.dump();
}

}  // namespace library

data::DataIterator get_dataset_shard(const std::string& name) {
  if (library::worker_context() == nullptr) throw BadResult(library::outside_of_loop("headway::get_dataset_shard()"));
  const auto found = library::shards().find(name);
  if (found != library::shards().end()) return data::DataIterator(found->second);
  std::string there;
  for (const auto& [each, state] : library::shards()) there += (there.empty() ? "\"" : ", \"") + each + "\"";
  throw BadResult(
      {ErrorKind::not_found, "there is no data set \"" + name + "\": the trainer " +
                                 (there.empty() ? "was given no TrainerOptions.datasets" : "has " + there)});
}

}  // namespace headway
