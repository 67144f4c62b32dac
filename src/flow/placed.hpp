#pragma once

#include <arrow/status.h>

#include <string>

/// Failures that say at which file and rows they are. What carries them on adds the place of a
/// whole unit, which is less exact, only to others.
namespace headway::flow {

/// The failure with its place before its words. A place that is there stays.
arrow::Status placed(const arrow::Status& status, const std::string& place);
bool is_placed(const arrow::Status& status);
/// With the detail that it had before `placed`, such as a number of the system.
arrow::Status unplaced(const arrow::Status& status);

}  // namespace headway::flow
