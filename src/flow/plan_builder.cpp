#include "flow/plan_builder.hpp"

#include "core/text.hpp"
#include "data/rules.hpp"
#include "flow/combined_stages.hpp"
#include "flow/cut_stages.hpp"
#include "flow/functions/function_step.hpp"
#include "flow/functions/python_filesystem.hpp"
#include "flow/functions/python_source.hpp"
#include "flow/range_source.hpp"
#include "flow/row_steps.hpp"
#include "flow/window_stage.hpp"

#include <algorithm>

namespace headway::flow {
namespace {

arrow::Status not_yet(const data::Node& node) {
  return arrow::Status::NotImplemented(data::op_of(node), ": this data process cannot run such a step");
}

}  // namespace

data::PlanIdentity PlanInput::identity_of(const data::Plan& which) const {
  const std::vector<std::string_view> views(blobs.begin(), blobs.end());
  return data::identity_of(which, views);
}

Result<PlanInput> read_plan(const Json& plan, const std::vector<std::uint64_t>& blob_sizes, std::int64_t errored_max,
                            const std::string* blobs) {
  PlanInput input;
  if (errored_max < -1) {
    return Error{ErrorKind::invalid_argument,
                 "errored_max is " + std::to_string(errored_max) + "; allowed: -1 or more"};
  }
  input.errored_max = errored_max;
  std::uint64_t at = 0;
  const std::uint64_t all = blobs == nullptr ? 0 : blobs->size();
  for (const std::uint64_t size : blob_sizes) {
    if (size > all - at) return Error{ErrorKind::corrupted, "a plan's blobs are shorter than their sizes"};
    input.blobs.push_back(blobs->substr(at, size));
    at += size;
  }
  Result<data::Plan> parsed = data::plan_from_json(plan, input.blobs.size());
  if (!parsed) return parsed.error();
  input.plan = std::move(*parsed);
  data::Rules rules;
  rules.fuse_functions = true;
  input.optimised = data::in_order(data::optimised(input.plan, rules));
  return input;
}

bool begins_ahead(const data::Plan& optimised) {
  return std::ranges::all_of(optimised.nodes, [](const data::Node& each) {
    return each.as<data::ReadNode>() || each.as<data::RangeNode>() || each.as<data::UnionNode>() ||
           each.as<data::ShuffleNode>() || each.as<data::LimitNode>() || is_step(each);
  });
}

/// Without the limit at the end: whoever deals the rows stops there. A local shuffle is of the rows
/// within the limit.
std::size_t PlanBuilder::result() {
  const std::size_t last = input_.optimised.nodes.size() - 1;
  const bool is_limit = node(last).as<data::LimitNode>() != nullptr;
  return is_limit && !config_.shuffle_window_rows && has_positions(node(last).inputs[0]) ? node(last).inputs[0] : last;
}

arrow::Result<BuiltPlan> PlanBuilder::build() {
  ARROW_RETURN_NOT_OK(open_sources());
  BuiltPlan built;
  const std::size_t last = result();
  positions_ = has_positions(last);
  lanes_ = config_.lanes > 1 && may_have_lanes(last);
  if (last + 1 < input_.optimised.nodes.size())
    rows_max_ = node(input_.optimised.nodes.size() - 1).as<data::LimitNode>()->rows;
  built.rows_max = rows_max_;
  ARROW_ASSIGN_OR_RAISE(Built top, build(last));
  ARROW_RETURN_NOT_OK(shuffle_locally(top));
  ARROW_ASSIGN_OR_RAISE(built.stage, stage_of(std::move(top)));
  if (positions_) {
    built.order = order_;
    built.units = units_;
    if (lanes_) built.lanes = order_->lanes();
  }
  built.may_run_ahead = !has_workers_ && !reads_all_first_;
  built.errored = errored_;
  built.ring = std::move(ring_);
  return built;
}

arrow::Result<std::shared_ptr<const Source>> PlanBuilder::source_of(std::size_t index) {
  if (const auto found = sources_.find(index); found != sources_.end()) return found->second;
  std::shared_ptr<const Source> source;
  if (const auto* range = node(index).as<data::RangeNode>()) {
    ARROW_ASSIGN_OR_RAISE(source, open_range(*range));
  } else if (const auto* read = node(index).as<data::ReadNode>()) {
    register_python_filesystem(engine_.functions(), *read, input_.blobs);
    ARROW_ASSIGN_OR_RAISE(source, open_source(*read, engine_.budget().pool(), input_.errored_max, engine_.seen_rows()));
  } else if (const auto* python = node(index).as<data::PythonSourceNode>()) {
    ARROW_ASSIGN_OR_RAISE(source, open_python_source(engine_.functions(), *python, input_.blobs));
  } else {
    return not_yet(node(index));
  }
  sources_[index] = source;
  return source;
}

arrow::Status PlanBuilder::open_sources() {
  const bool has_functions = std::ranges::any_of(input_.optimised.nodes, [](const data::Node& each) {
    const auto* read = each.as<data::ReadNode>();
    return each.as<data::FunctionNode>() || each.as<data::PythonSourceNode>() || each.as<data::WholeNode>() ||
           (read != nullptr && read->blob);
  });
  // Its imports take as long as opening the sources.
  if (has_functions) ARROW_RETURN_NOT_OK(engine_.functions()->host().status());
  for (std::size_t i = 0; i < input_.optimised.nodes.size(); ++i) {
    if (node(i).inputs.empty()) ARROW_RETURN_NOT_OK(source_of(i).status());
  }
  return arrow::Status::OK();
}

/// Whether its rows are those of units in an order, each unit by itself.
bool PlanBuilder::is_chain(std::size_t index) const {
  const data::Node& at = node(index);
  if (at.inputs.empty()) return true;
  const auto* shuffle = at.as<data::ShuffleNode>();
  const bool of_units = is_step(at) || at.as<data::UnionNode>() != nullptr ||
                        (shuffle != nullptr && shuffle->kind == data::ShuffleKind::blocks);
  return of_units &&
         std::all_of(at.inputs.begin(), at.inputs.end(), [this](std::size_t each) { return is_chain(each); });
}

/// Whether a place in a window of the one order is a place in the plan's rows.
bool PlanBuilder::has_positions(std::size_t index) const {
  if (is_chain(index)) return true;
  const data::Node& at = node(index);
  if (at.as<data::ShuffleNode>() != nullptr) return is_chain(at.inputs[0]);
  return is_step(at) && has_positions(at.inputs[0]);
}

arrow::Result<PlanBuilder::Built> PlanBuilder::build_leaf(std::size_t index) {
  auto leaf = std::make_shared<Leaf>();
  ARROW_ASSIGN_OR_RAISE(leaf->source, source_for_functions(index));
  Built built;
  built.chain.emplace();
  leaf->gauges.push_back(gauges_->add(data::stage_name(node(index))));
  leaf->keeps_rows = !errored_->allows_any();
  built.chain->leaves.push_back(std::move(leaf));
  built.chain->order.seed = config_.seed;
  built.chain->order.epoch = config_.epoch;
  built.chain->order.part_bytes = config_.shuffled_bytes_max;
  if (const auto* read = node(index).as<data::ReadNode>(); read != nullptr && read->shuffle_files) {
    built.chain->order.permutes_units = true;
    built.chain->order.seed = read->shuffle_files->seed.value_or(config_.seed);
    if (!read->shuffle_files->reseed) built.chain->order.epoch = 0;
  }
  return built;
}

/// Whether the rows that it gives are those of an order, one for one: steps behind a shuffle may
/// leave some out, and an exact shuffle is of all rows.
bool PlanBuilder::may_have_lanes(std::size_t index) const {
  if (is_chain(index)) return true;
  const auto* shuffle = node(index).as<data::ShuffleNode>();
  return shuffle != nullptr && shuffle->kind != data::ShuffleKind::exact && is_chain(node(index).inputs[0]);
}

arrow::Result<std::unique_ptr<Stage>> PlanBuilder::stage_of(Built built) {
  if (built.stage) return std::move(built.stage);
  if (lanes_) built.chain->order.lanes = config_.lanes;
  auto chain = std::make_shared<const UnitChain>(std::move(*built.chain));
  const bool may_grow = std::ranges::any_of(chain->leaves, [](const auto& leaf) { return !leaf->steps.empty(); });
  auto sizes = unit_sizes(*chain);
  auto order = std::make_shared<const data::EpochOrder>(chain->order, sizes);
  ARROW_ASSIGN_OR_RAISE(auto schema, schema_of(*chain));
  std::unique_ptr<Stage> stage;
  if (order->lanes() > 1) {
    stage = lanes_stage(std::move(chain), order, std::move(schema));
  } else {
    ParallelLimits limits{engine_.threads(), 2 * engine_.threads() + 2, config_.demand, others()};
    if (positions_) limits.on_idle = config_.on_read;
    limits.errored = errored_;
    const PartRange parts = parts_of_lane(*order, 0, positions_ ? config_.first_window : 0);
    const bool shuffles = order->config().permutes_rows;
    ARROW_ASSIGN_OR_RAISE(ring_, shuffles ? ring_for_shuffled(schema) : ring_for(*chain));
    stage = read_units(engine_.budget(), std::move(limits), *chain, order, parts, std::move(schema), gauges_,
                       shuffles ? nullptr : ring_);
    if (shuffles) {
      reads_all_first_ = reads_all_first_ || order->config().window_bytes == data::whole_epoch;
      ARROW_ASSIGN_OR_RAISE(stage, shuffled(std::move(stage), order, sizes, may_grow));
    }
  }
  order_ = std::move(order);
  units_ = std::move(sizes);
  return stage;
}

arrow::Result<std::unique_ptr<Stage>> PlanBuilder::input_stage(std::size_t index) {
  ARROW_ASSIGN_OR_RAISE(Built built, build(index));
  return stage_of(std::move(built));
}

arrow::Result<std::vector<std::unique_ptr<Stage>>> PlanBuilder::inputs_of(std::size_t index) {
  std::vector<std::unique_ptr<Stage>> stages;
  for (const std::size_t input : node(index).inputs) {
    ARROW_ASSIGN_OR_RAISE(auto stage, input_stage(input));
    stages.push_back(std::move(stage));
  }
  return stages;
}

OtherThreads PlanBuilder::others(std::size_t stages) const {
  if (!has_workers_ || input_.other_nodes == feed::OtherNodes::never) return {};
  const std::shared_ptr<FunctionDesk> desk = engine_.functions()->desk();
  return {[desk, stages] { return (static_cast<std::size_t>(desk->count()) + stages - 1) / stages; },
          [desk](const void* who, std::function<void()> changed) { desk->on_change(who, std::move(changed)); }};
}

arrow::Result<std::shared_ptr<const UnitStep>> PlanBuilder::step_of(std::size_t index) {
  if (const auto* function = node(index).as<data::FunctionNode>()) return function_of(index, *function);
  ARROW_ASSIGN_OR_RAISE(auto step, row_step(node(index), engine_.budget().pool()));
  if (step == nullptr) return not_yet(node(index));
  return step;
}

arrow::Result<PlanBuilder::Built> PlanBuilder::build_steps(std::size_t index, std::shared_ptr<const UnitStep> step,
                                                           bool keeps_rows) {
  ARROW_ASSIGN_OR_RAISE(Built built, build(node(index).inputs[0]));
  const auto gauge = gauge_of(step, data::stage_name(node(index)));
  if (built.chain) {
    std::int64_t first_unit = 0;
    for (auto& leaf : built.chain->leaves) {
      auto changed = std::make_shared<Leaf>(*leaf);
      changed->steps.push_back(step);
      changed->first_units.push_back(first_unit);
      first_unit += std::ssize(leaf->source->units());
      changed->gauges.push_back(gauge);
      changed->keeps_rows = changed->keeps_rows && keeps_rows;
      leaf = std::move(changed);
    }
    return built;
  }
  ARROW_ASSIGN_OR_RAISE(built.stage, with_steps(engine_.budget(), step_limits(), std::move(built.stage),
                                                {std::move(step)}, place_behind(index), gauges_, {gauge}));
  return built;
}

std::shared_ptr<StageGauge> PlanBuilder::gauge_of(const std::shared_ptr<const UnitStep>& step, std::string name) {
  // A function's workers, where they do the work. Who reads the gauges later keeps no workers.
  return gauges_->add(std::move(name), [seen = std::weak_ptr(step)] {
    const auto step = seen.lock();
    return step ? step->workers() : 0;
  });
}

SeenAt PlanBuilder::seen_at(std::size_t step) {
  if (name_.empty()) name_ = data::plan_hash(input_.identity_of(input_.optimised));
  return {engine_.seen_rows(), name_ + ' ' + std::to_string(step)};
}

arrow::Result<PlanBuilder::Built> PlanBuilder::build_whole(std::size_t index, const data::WholeNode& whole) {
  ARROW_ASSIGN_OR_RAISE(auto stages, inputs_of(index));
  Built built;
  built.stage = whole_stage(engine_.functions(), whole, std::move(stages), whole_memory(), engine_.scratch(),
                            seen_at(index), config_.demand);
  built.stage = gauged(std::move(built.stage), whole.blob ? "groupby" : whole.operation);
  if (!whole.blob) return built;
  FunctionSpec function = group_function(whole, input_.blobs);
  function.copy = copy_of(function.calls.front().pickled);
  auto step = function_step(engine_.functions(), std::move(function), seen_at(index).giver);
  const auto gauge = gauge_of(step, "map_groups");
  ARROW_ASSIGN_OR_RAISE(built.stage, with_steps(engine_.budget(), step_limits(), std::move(built.stage),
                                                {std::move(step)}, place_behind(index), gauges_, {gauge}));
  return built;
}

arrow::Result<PlanBuilder::Built> PlanBuilder::build_cut(std::size_t index, const data::RepartitionNode& cut) {
  Built built;
  ARROW_ASSIGN_OR_RAISE(const std::int64_t rows, rows_of(node(index).inputs[0]));
  ARROW_ASSIGN_OR_RAISE(built.stage, input_stage(node(index).inputs[0]));
  if (cut.at) {
    built.stage = cut_at(std::move(built.stage), *cut.at);
  } else if (cut.rows) {
    built.stage = cut_anew(std::move(built.stage), *cut.rows);
  } else if (cut.blocks && rows >= 0) {
    built.stage = cut_anew(std::move(built.stage), std::max<std::int64_t>((rows + *cut.blocks - 1) / *cut.blocks, 1));
  }
  built.stage = gauged(std::move(built.stage), data::stage_name(node(index)));
  return built;
}

arrow::Result<PlanBuilder::Built> PlanBuilder::build(std::size_t index) {
  const data::Node& at = node(index);
  if (at.inputs.empty()) return build_leaf(index);
  if (is_step(at)) {
    ARROW_ASSIGN_OR_RAISE(auto step, step_of(index));
    return build_steps(index, std::move(step), keeps_rows(at));
  }
  if (at.as<data::UnionNode>() != nullptr) return build_union(index);
  if (const auto* shuffle = at.as<data::ShuffleNode>()) return build_shuffle(index, *shuffle);
  if (const auto* cut = at.as<data::RepartitionNode>()) return build_cut(index, *cut);
  if (const auto* whole = at.as<data::WholeNode>()) return build_whole(index, *whole);
  Built built;
  ARROW_ASSIGN_OR_RAISE(auto stages, inputs_of(index));
  if (const auto* limit = at.as<data::LimitNode>()) {
    built.stage = limit_rows(std::move(stages.front()), limit->rows);
  } else if (at.as<data::ZipNode>() != nullptr) {
    built.stage = cut_for_functions(index, side_by_side(std::move(stages)));
  } else if (const auto* mix = at.as<data::MixNode>()) {
    built.stage = cut_for_functions(index, mixed(std::move(stages), *mix, seen_at(index)));
  } else {
    return not_yet(at);
  }
  built.stage = gauged(std::move(built.stage), data::stage_name(at));
  return built;
}

arrow::Result<std::int64_t> PlanBuilder::rows_of(std::size_t index) {
  const data::Node& at = node(index);
  if (at.inputs.empty()) {
    ARROW_ASSIGN_OR_RAISE(const auto source, source_of(index));
    return errored_->allows_any() ? -1 : rows_of_source(*source);
  }
  std::vector<std::int64_t> rows;
  for (const std::size_t input : at.inputs) {
    ARROW_ASSIGN_OR_RAISE(rows.emplace_back(), rows_of(input));
  }
  if (*std::min_element(rows.begin(), rows.end()) < 0) return -1;
  if (const auto* limit = at.as<data::LimitNode>()) return std::min(rows[0], limit->rows);
  if (at.as<data::UnionNode>() != nullptr) {
    std::int64_t sum = 0;
    for (const std::int64_t each : rows) sum += each;
    return sum;
  }
  // A zip of different numbers is an error of whoever reads it.
  const bool zipped = at.as<data::ZipNode>() != nullptr &&
                      std::all_of(rows.begin(), rows.end(), [&](auto each) { return each == rows[0]; });
  const bool same = (is_step(at) && keeps_rows(at)) || at.as<data::ShuffleNode>() != nullptr ||
                    at.as<data::RepartitionNode>() != nullptr || zipped;
  return same ? rows[0] : -1;
}

arrow::Result<std::int64_t> PlanBuilder::known_rows() {
  ARROW_RETURN_NOT_OK(open_sources());
  return rows_of(input_.optimised.nodes.size() - 1);
}

arrow::Result<std::vector<std::string>> PlanBuilder::files() {
  ARROW_RETURN_NOT_OK(open_sources());
  std::vector<std::string> all;
  for (const auto& [index, source] : sources_) {
    for (std::string& file : source->files()) {
      if (!is_utf8(file))
        return arrow::Status::Invalid(to_utf8(file), ": the path is no text (UTF-8); rename the file");
      all.push_back(std::move(file));
    }
  }
  return all;
}

arrow::Result<std::int64_t> PlanBuilder::bytes() {
  ARROW_RETURN_NOT_OK(open_sources());
  std::int64_t sum = 0;
  for (const auto& [index, source] : sources_) {
    for (const Unit& unit : source->units()) sum += unit.bytes;
  }
  return sum;
}

}  // namespace headway::flow
