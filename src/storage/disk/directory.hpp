#pragma once

#include <headway/result.hpp>

#include <string>
#include <string_view>
#include <vector>

/// Directories: making, fsyncing, reading and removing them, with errors that name the path.
namespace headway::storage {

/// `directory` and `name` with one '/' between.
std::string join(std::string_view directory, std::string_view name);

/// The last part of a path, without trailing '/'.
std::string last_part(std::string_view path);

/// All but the last part; "/" for a path directly below it.
std::string parent_of(std::string_view path);

/// Makes the directory; nothing happens when it is there. Nothing is fsynced.
Result<void> make_directory(const std::string& path);

/// Makes the directory and what is missing above it; fsyncs each directory that got a new entry.
/// There already: nothing happens.
Result<void> make_directories(const std::string& path);

/// Makes the new entries, removed or renamed ones of a directory durable.
Result<void> sync_directory(const std::string& path);

/// The names in a directory, sorted, without "." and "..". Errors: `not_found` when it is not
/// there.
Result<std::vector<std::string>> read_directory(const std::string& path);

/// Whether something is there; a symbolic link counts as itself.
Result<bool> exists(const std::string& path);

/// Whether it is a directory and not a symbolic link to one.
Result<bool> is_real_directory(const std::string& path);

/// Removes a file, or a directory with all below it. Symbolic links are removed, never followed.
/// Not there: nothing happens.
Result<void> remove_tree(const std::string& path);

/// Renames within one file system. With `replace`, what a file's new name held goes; without,
/// anything there is `already_exists`.
Result<void> rename_path(const std::string& from, const std::string& to, bool replace);

}  // namespace headway::storage
