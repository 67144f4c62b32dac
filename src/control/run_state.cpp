#include "control/run_state.hpp"

namespace headway::control {

const char* to_string(RunState state) { return boost::describe::enum_to_string(state, "failed"); }

}  // namespace headway::control
