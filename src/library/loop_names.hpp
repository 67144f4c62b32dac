#pragma once

#include <headway/trainer.hpp>

#include <string>

namespace headway::library {

/// The name under which HEADWAY_TRAIN_LOOP has registered a loop. Errors: `invalid_argument`.
Result<std::string> name_of(const TrainLoop& loop);

}  // namespace headway::library
