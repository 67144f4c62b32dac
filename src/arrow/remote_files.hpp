#pragma once

#include <headway/export.hpp>

/// What libheadway_arrow.so offers, by C linkage so that it can be looked up after dlopen. Each function returns nullptr, or an
/// error's text to be freed with free(3): the first byte is '0' + the number of its headway::ErrorKind.
extern "C" {

/// Copies every file below `uri` (s3://, gs://, hdfs://, file://) into `target_directory`, several at a time.
/// `arrow_directory`: where the pyarrow wheel's libraries lie (S3 support is one of them).
HEADWAY_API char* headway_arrow_download(const char* uri, const char* target_directory, const char* arrow_directory);

/// Ends Arrow's filesystems; none can be made afterwards. To be called once, at the very end of a process that used them.
HEADWAY_API void headway_arrow_finalize();
}
