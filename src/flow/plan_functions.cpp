/// How a plan's builder numbers equal functions, and builds unions, whose inputs do not run beside
/// each other.
#include "flow/combined_stages.hpp"
#include "flow/functions/function_step.hpp"
#include "flow/plan_builder.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace headway::flow {

int PlanBuilder::copy_of(const std::string& function) { return copies_[function]++; }

std::shared_ptr<const UnitStep> PlanBuilder::function_of(std::size_t index, const data::FunctionNode& function) {
  has_workers_ = true;
  std::string calls = input_.blobs[static_cast<std::size_t>(function.blob)];
  for (const data::FunctionStep& step : function.then) calls += input_.blobs[static_cast<std::size_t>(step.blob)];
  return function_step(engine_.functions(), function, input_.blobs, seen_at(index).giver, input_.other_nodes,
                       copy_of(calls));
}

/// Rows of several inputs are not needed at the same time: equal functions have the same workers.
arrow::Result<std::vector<PlanBuilder::Built>> PlanBuilder::build_inputs_of_union(std::size_t index) {
  std::vector<Built> inputs;
  const auto before = copies_;
  auto most = copies_;
  for (const std::size_t input : node(index).inputs) {
    copies_ = before;
    ARROW_ASSIGN_OR_RAISE(Built built, build(input));
    if (!is_chain(index)) {
      ARROW_ASSIGN_OR_RAISE(built.stage, stage_of(std::move(built)));
      built.chain.reset();
    }
    inputs.push_back(std::move(built));
    for (const auto& [function, count] : copies_) most[function] = std::max(most[function], count);
  }
  copies_ = std::move(most);
  return inputs;
}

arrow::Result<PlanBuilder::Built> PlanBuilder::build_union(std::size_t index) {
  ARROW_ASSIGN_OR_RAISE(std::vector<Built> inputs, build_inputs_of_union(index));
  Built built;
  if (!is_chain(index)) {
    std::vector<std::unique_ptr<Stage>> stages;
    for (Built& input : inputs) stages.push_back(std::move(input.stage));
    built.stage = gauged(one_after_another(std::move(stages), seen_at(index)), "union");
    return built;
  }
  for (Built& part : inputs) {
    // Units that are shuffled before the union are shuffled with those of all.
    if (!built.chain) {
      built.chain = std::move(part.chain);
      continue;
    }
    built.chain->order.permutes_units = built.chain->order.permutes_units || part.chain->order.permutes_units;
    std::move(part.chain->leaves.begin(), part.chain->leaves.end(), std::back_inserter(built.chain->leaves));
  }
  return built;
}

}  // namespace headway::flow
