#pragma once

#include <headway/data/batch.hpp>
#include <headway/result.hpp>

#include <string>
#include <vector>

namespace headway::library {

/// Whether no two functions are registered under one name. Errors: `invalid_argument`.
Result<void> check_batch_function_names();

/// The name under which HEADWAY_BATCH_FUNCTION has registered a function (a data::BatchFunction).
/// Errors: `invalid_argument`.
Result<std::string> name_of(void (*function)(data::Batch&));

/// Calls the functions of these names, one after the other. Throws what they throw, and `BadResult`
/// (`invalid_argument`) for a name that this program does not have.
void call_batch_functions(const std::vector<std::string>& names, data::Batch& batch);

}  // namespace headway::library
