#pragma once

#include "storage/files.hpp"

#include <headway/export.hpp>

#include <memory>
#include <string>

/// What libheadway_arrow.so offers, under names that can be looked up after dlopen. It is built
/// with what loads it, by one compiler, so that objects may cross.
extern "C" {

/// The filesystem of `url` (s3://, gs://, hdfs://, …). False with an error: `invalid_argument`,
/// `refused`, `unavailable`.
HEADWAY_API bool headway_arrow_open(const std::string& url, std::shared_ptr<headway::storage::Files>* files,
                                    headway::Error* error);

/// Ends Arrow's filesystems; none can be made afterwards. To be called once, at the very end of a
/// process that used them, when every reader and writer is gone: an open one would hang later.
HEADWAY_API void headway_arrow_finalize();
}
