#pragma once

#include <headway/result.hpp>

#include <string>
#include <string_view>

/// Where storage lies, as text. A *location* is one of
///   - an absolute path, or "file:///path": a local or mounted file system;
///   - a URL that Arrow has a filesystem for:
///     "s3://bucket/path?endpoint_override=localhost:9000&scheme=http", "gs://…", "hdfs://…". Its
///     query says how to reach the storage and stays at its end;
///   - "python-<id>://path": a path on a Python filesystem that this process has registered under
///     that scheme.
namespace headway {

/// The scheme of a Python filesystem begins so. Such a location is taken as it is: no query, no
/// escapes.
inline constexpr std::string_view python_scheme_prefix = "python-";

/// Whether it is a URL or lies on a Python filesystem, as against a path or "file://".
bool is_remote(std::string_view location);

/// What stands before "://"; "" for a path.
std::string_view scheme_of(std::string_view location);

/// The path that an absolute path or "file:///path" stands for. Errors: `invalid_argument` for a
/// "file://" with a host or bad escapes.
Result<std::string> local_path(std::string_view location);

/// The location of `name` (one part or several with '/' between) below `location`; the query of a
/// URL stays at the end. Characters that mean something in a URL are escaped in the name.
std::string join_location(std::string_view location, std::string_view name);

/// The name of `location` in `directory`, of which it must be a direct child: one part, as it was
/// before it was joined.
/// Errors: `invalid_argument`.
Result<std::string> name_below(std::string_view directory, std::string_view location);

/// What a location lies in, and its own name, as it was before it was joined: "s3://bucket/run?x=1"
/// and "checkpoint_000003" of "s3://bucket/run/checkpoint_000003?x=1". A '/' at the end does not
/// count.
std::string parent_location(std::string_view location);
std::string name_of(std::string_view location);

/// As people may read it: without user and password, and without the query's values that look like
/// secrets.
std::string shown_location(std::string_view location);

}  // namespace headway
