#pragma once

#include <headway/trainer.hpp>

#include <string>

namespace headway::library {

/// The name under which HEADWAY_TRAIN_LOOP has registered a loop. Errors: `invalid_argument`.
Result<std::string> name_of(const TrainLoop& loop);

/// The name under which HEADWAY_VALIDATION has registered a function. Errors: `invalid_argument`.
Result<std::string> name_of(const ValidationFunction& function);

}  // namespace headway::library
