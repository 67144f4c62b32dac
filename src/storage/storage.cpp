#include "storage/storage.hpp"

#include "core/location.hpp"
#include "storage/disk/copy.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/file.hpp"
#include "storage/local/local.hpp"
#include "storage/remote/remote_checkpoint.hpp"

/// From a location to what carries the work out: the one place where local and remote storage part.
namespace headway::storage {

namespace {

/// Of one small file on its way: its parts that are sent at a time.
constexpr std::size_t put_memory_bytes = std::size_t{32} << 20;

/// Calls `on_path` with the path that a local location stands for, or `on_remote` with the place on
/// a remote filesystem.
template <class OnPath, class OnRemote>
auto dispatch(const std::string& location, OnPath on_path, OnRemote on_remote) -> decltype(on_path(location)) {
  if (is_remote(location)) {
    const Result<Remote> remote = open_remote(location);
    if (!remote) return remote.error();
    return on_remote(*remote);
  }
  const Result<std::string> path = local_path(location);
  if (!path) return path.error();
  return on_path(*path);
}

}  // namespace

Result<void> probe(const std::string& run) {
  if (!is_remote(run)) return dispatch(run, local::probe, remote::probe);
  const Result<Remote> remote = open_remote(run);
  if (!remote) return Error{remote.error().kind, "RunConfig.storage_path: " + remote.error().message};
  return remote::probe(*remote);
}

Result<std::vector<FileRecord>> list_files(const std::string& directory, const std::string& apart_from) {
  const auto list = [&](const std::string& path) { return local::list_files(path, apart_from); };
  return dispatch(directory, list, remote::list_files);
}

Result<void> begin_checkpoint(const std::string& checkpoint) {
  return dispatch(checkpoint, local::begin_checkpoint, remote::begin_checkpoint);
}

Result<std::vector<FileRecord>> upload(const std::string& source_directory, const std::string& checkpoint,
                                       const std::vector<std::string>& names, int rank, Transfer transfer,
                                       const OnBytes& on_bytes, Target target) {
  return dispatch(
      checkpoint,
      [&](const std::string& path) {
        return local::upload(source_directory, path, names, rank, transfer, on_bytes, target);
      },
      [&](const Remote& remote) { return remote::upload(source_directory, remote, names, rank, on_bytes, target); });
}

Result<void> commit(const std::string& checkpoint, const Manifest& manifest) {
  return dispatch(
      checkpoint, [&](const std::string& path) { return local::commit(path, manifest); },
      [&](const Remote& remote) { return remote::commit(remote, manifest); });
}

Result<void> commit_placed(const std::string& checkpoint, Manifest manifest) {
  return dispatch(
      checkpoint, [&](const std::string& path) { return local::commit_placed(path, std::move(manifest)); },
      [&](const Remote& remote) { return remote::commit_placed(remote, std::move(manifest)); });
}

Result<std::string> name_in_run(const std::string& run, const std::string& directory) {
  if (!is_remote(run) && !is_remote(directory)) return local::name_in_run(run, directory);
  return name_below(run, directory);
}

Result<Manifest> read_manifest(const std::string& checkpoint) {
  return dispatch(checkpoint, local::read_manifest, remote::read_manifest);
}

Result<void> remove_checkpoint(const std::string& checkpoint) {
  return dispatch(checkpoint, local::remove_checkpoint, remote::remove_checkpoint);
}

Result<std::vector<Manifest>> list_checkpoints(const std::string& run, std::vector<Error>* unreadable) {
  return dispatch(
      run, [&](const std::string& path) { return local::list_checkpoints(path, unreadable); },
      [&](const Remote& remote) { return remote::list_checkpoints(remote, unreadable); });
}

Result<void> discard_unfinished(const std::string& checkpoint) {
  return dispatch(checkpoint, local::discard_unfinished, remote::discard_unfinished);
}

Result<std::vector<std::string>> sweep(const std::string& run) { return dispatch(run, local::sweep, remote::sweep); }

Result<std::string> read_file(const std::string& location) {
  return dispatch(location, read_whole, [](const Remote& remote) { return remote.store.read(remote.path); });
}

Result<void> replace_file(const std::string& location, std::string_view content) {
  return dispatch(
      location, [&](const std::string& path) { return local::replace_file(path, content); },
      [&](const Remote& remote) { return remote.store.write(remote.path, content); });
}

Result<void> put_file(const std::string& local_file, const std::string& location) {
  const auto on_path = [&](const std::string& path) -> Result<void> {
    if (Result<void> made = make_directories(parent_of(path)); !made) return made;
    const std::string part = join(parent_of(path), std::string(part_prefix) + last_part(path));
    const Result<Copied> copied = copy_file(local_file, path, part, CopyFor::keeping);
    return copied ? Result<void>() : copied.error();
  };
  const auto on_remote = [&](const Remote& remote) -> Result<void> {
    const std::size_t slash = remote.path.rfind('/');
    if (slash != std::string::npos && slash > 0) {
      if (Result<void> made = remote.store.make_directory(remote.path.substr(0, slash)); !made) return made;
    }
    const Result<Content> sent = remote.store.put(local_file, remote.path, put_memory_bytes);
    return sent ? Result<void>() : sent.error();
  };
  return dispatch(location, on_path, on_remote);
}

Result<std::vector<FileRecord>> download(const std::string& directory, const std::string& target_directory,
                                         const OnBytes& on_bytes) {
  return dispatch(
      directory, [&](const std::string& path) { return local::download(path, target_directory, on_bytes); },
      [&](const Remote& remote) { return remote::download(remote, target_directory, on_bytes); });
}

}  // namespace headway::storage
