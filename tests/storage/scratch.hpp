#pragma once

#include "storage/storage.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// A temporary directory with a run in it, gone with the test.
namespace headway::storage {

namespace fs = std::filesystem;

struct Scratch {
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "headway-storage-XXXXXX").string();
    root = ::mkdtemp(pattern.data());
    run = root + "/run";
    fs::create_directory(run);
  }
  ~Scratch() { fs::remove_all(root); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string path(std::string_view name) const { return root + "/" + std::string(name); }

  /// Writes a file with the directories above it.
  std::string write(std::string_view name, std::string_view content) const {
    const std::string at = path(name);
    fs::create_directories(fs::path(at).parent_path());
    std::ofstream(at, std::ios::binary) << content;
    return at;
  }

  std::string root;
  std::string run;
};

inline std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The names in a directory.
inline std::set<std::string> entries(const std::string& directory) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) names.insert(entry.path().filename());
  return names;
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The value, or a failed test that says the error.
template <class T>
T must(Result<T> result) {
  if (!result) BOOST_FAIL(result.error().message);
  return std::move(*result);
}

inline void must(const Result<void>& result) {
  if (!result) BOOST_FAIL(result.error().message);
}

/// The error, or a failed test.
template <class T>
Error error_of(const Result<T>& result) {
  if (result) {
    BOOST_ERROR("expected an error, there was none");
    return {};
  }
  return result.error();
}

inline std::vector<std::string> names_of(const std::vector<FileRecord>& files) {
  std::vector<std::string> names;
  for (const FileRecord& file : files) names.push_back(file.name);
  return names;
}

inline std::vector<std::string> names_of(const std::vector<Manifest>& manifests) {
  std::vector<std::string> names;
  for (const Manifest& manifest : manifests) names.push_back(manifest.checkpoint);
  return names;
}

inline Manifest manifest_of(std::string_view checkpoint, std::int64_t index, std::vector<FileRecord> files) {
  Manifest manifest;
  manifest.checkpoint = checkpoint;
  manifest.index = index;
  manifest.files = std::move(files);
  return manifest;
}

/// Begins, uploads all that `source` holds and commits; the checkpoint's directory.
inline std::string save(const Scratch& scratch, std::string_view checkpoint, std::int64_t index,
                        const std::string& source, Transfer transfer = Transfer::copy) {
  const std::string directory = scratch.run + "/" + std::string(checkpoint);
  const std::vector<std::string> names = names_of(must(list_files(source)));
  must(begin_checkpoint(directory));
  must(commit(directory, manifest_of(checkpoint, index, must(upload(source, directory, names, 0, transfer)))));
  return directory;
}

using Names = std::vector<std::string>;

}  // namespace headway::storage
