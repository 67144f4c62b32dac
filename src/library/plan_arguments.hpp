#pragma once

#include <headway/data/dataset.hpp>
#include <headway/json.hpp>

#include <string>
#include <vector>

/// Arguments of data sets, checked and as plans have them. All throw `BadResult`
/// (`invalid_argument`), naming `argument`.
namespace headway::library {

[[noreturn]] void refuse(std::string message);

/// Columns' names: at least one, none twice.
Json column_names(const char* argument, const std::vector<std::string>& names);

/// The arguments of a shuffle, but for its kind.
Json shuffle_arguments(const std::string& argument, const data::ShuffleOptions& options);

/// A path or URL as the data process, which works in another directory, opens it.
std::string location_of(const std::string& argument, const std::string& path);

}  // namespace headway::library
