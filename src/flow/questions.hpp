#pragma once

#include "flow/engine.hpp"
#include "flow/errand.hpp"
#include "flow/plan_builder.hpp"
#include "wire/frame.hpp"

#include <string>

namespace headway::flow {

/// The answer to a client's question about a plan, or its failure. Blocks: sources are opened.
///
/// | question | value | raw part |
/// | --- | --- | --- |
/// | schema | the columns, as in a Layout message | the schema, as Arrow's IPC serializes it |
/// | count | the number of rows | |
/// | size | decoded bytes that are read, as far as the files say | |
/// | files | a list of locations | |
/// | check | what `bind_plan` gives: `operation`, `options`, `schema_bytes` | schemas, as above |
/// | explain | text, one line for each node | |
///
/// `gauges` count what is run for it, and it ends with the errand.
wire::Frame answer(Engine& engine, const std::string& what, const PlanInput& input,
                   const std::shared_ptr<FlowGauges>& gauges, Errand& errand);

/// The answer to an invitation: there function workers of other nodes may come in from now on.
wire::Frame answer(Engine& engine, const feed::Invite& invite);

}  // namespace headway::flow
