#pragma once

#include <headway/result.hpp>

#include <memory>
#include <string>

namespace headway::driver {
class Runtime;
}

/// This process as a Headway program: whether it is driver, factory or worker, and what it has of
/// the driver's side.
namespace headway::library {

/// What `Main`'s constructor does. Returns in the driver only; false when another `Main` is there.
bool enter_program(int argc, char** argv);

/// What `Main`'s destructor does. Does nothing in a worker.
void leave_program();

/// The driver's side, started on first use; in a process that validates a checkpoint, that of a
/// guest of its driver. Errors: `invalid_argument` or `unavailable`, when this program can't train:
/// no Main, one that came too late, a rank, runs within runs too deep.
Result<std::shared_ptr<driver::Runtime>> driver_runtime();

/// In a worker: notes in its environment that it is one level deeper than the driver.
void enter_depth();

}  // namespace headway::library
