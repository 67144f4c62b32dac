#include "storage/remote/remote_standing.hpp"

#include "core/manifest.hpp"
#include "storage/disk/directory.hpp"
#include "storage/disk/parallel.hpp"

#include <algorithm>

namespace headway::storage::remote {

std::string below(const std::string& directory, std::string_view name) {
  return directory.empty() ? std::string(name) : join(directory, name);
}

std::string marker_of(const std::string& checkpoint) {
  const std::size_t slash = checkpoint.rfind('/');
  const std::string run = slash == std::string::npos ? "" : checkpoint.substr(0, slash);
  return below(run, std::string(begun_marker_prefix) + checkpoint.substr(slash + 1));
}

Result<bool> is_file(const Store& store, const std::string& path) {
  const Result<Entry> entry = store.info(path);
  if (entry) return !entry->directory;
  if (entry.error().kind == ErrorKind::not_found) return false;
  return entry.error();
}

Result<Manifest> read_manifest(const Remote& checkpoint) {
  const std::string path = below(checkpoint.path, manifest_name);
  const std::string shown = checkpoint.store.shown(path);
  const Result<std::string> text = checkpoint.store.read(path);
  if (!text) {
    if (text.error().kind != ErrorKind::not_found) return text.error();
    return Error{ErrorKind::not_found, "no committed checkpoint at " + checkpoint.store.shown(checkpoint.path) +
                                           ": it has no " + std::string(manifest_name)};
  }
  return parse_manifest(*text, shown);
}

Result<Standing> standing_of(const Remote& checkpoint) {
  const Result<Manifest> manifest = read_manifest(checkpoint);
  if (manifest) return Standing::committed;
  const ErrorKind why = manifest.error().kind;
  if (why != ErrorKind::not_found && why != ErrorKind::corrupted) return manifest.error();
  const Result<bool> marked = is_file(checkpoint.store, marker_of(checkpoint.path));
  if (!marked) return marked.error();
  if (*marked) return Standing::begun;
  if (why == ErrorKind::corrupted) return Standing::foreign;
  const Result<std::vector<Entry>> there = checkpoint.store.list(checkpoint.path, false);
  if (!there) return there.error();
  if (!there->empty()) return Standing::foreign;
  const Result<bool> file = is_file(checkpoint.store, checkpoint.path);
  if (!file) return file.error();
  return *file ? Standing::foreign : Standing::nothing;
}

Result<std::vector<Manifest>> list_checkpoints(const Remote& run, std::vector<Error>* unreadable) {
  const Result<std::vector<Entry>> entries = run.store.list(run.path, false);
  if (!entries) return entries.error();
  std::vector<std::string> names;
  for (const Entry& entry : *entries) {
    if (entry.directory && !is_own_name(entry.name)) names.push_back(entry.name);
  }
  const auto is_marked = [&](const std::string& name) {
    const std::string marker = std::string(begun_marker_prefix) + name;
    return std::any_of(entries->begin(), entries->end(), [&](const Entry& entry) { return entry.name == marker; });
  };
  std::vector<std::optional<Result<Manifest>>> found(names.size());
  const Result<void> read = parallel_for(names.size(), storage_threads_max, [&](std::size_t index) {
    found[index] = read_manifest({run.store, below(run.path, names[index])});
    return Result<void>();
  });
  if (!read) return read.error();
  std::vector<Manifest> manifests;
  for (std::size_t index = 0; index < names.size(); ++index) {
    Result<Manifest>& manifest = *found[index];
    if (manifest) {
      manifest->checkpoint = names[index];
      manifests.push_back(std::move(*manifest));
      continue;
    }
    const ErrorKind why = manifest.error().kind;
    // A manifest that is not whole beside a marker was never committed.
    if (why == ErrorKind::not_found || (why == ErrorKind::corrupted && is_marked(names[index]))) continue;
    if (unreadable == nullptr) return manifest.error();
    unreadable->push_back(manifest.error());
  }
  std::sort(manifests.begin(), manifests.end(), is_older);
  return manifests;
}

}  // namespace headway::storage::remote
