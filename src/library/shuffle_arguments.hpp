#pragma once

#include <headway/data/dataset.hpp>
#include <headway/json.hpp>

#include <string>

namespace headway::library {

/// The arguments of a shuffle, but for its kind, as a plan has them. Throws `BadResult`
/// (`invalid_argument`), naming `argument`.
Json shuffle_arguments(const std::string& argument, const data::ShuffleOptions& options);

}  // namespace headway::library
