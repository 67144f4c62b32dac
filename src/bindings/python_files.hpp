#pragma once

#include "storage/files.hpp"
#include "storage/remote/remote.hpp"

#include <nanobind/nanobind.h>

namespace headway::bindings {

/// A Python object with the methods of `PythonFiles` in headway/_storage/python_files.py as a
/// filesystem of the core. The interpreter's lock is taken within the calls only, so that several
/// threads may wait for storage at a time. The object is kept for ever: the core's list of
/// filesystems outlives the interpreter.
class PythonFiles : public storage::Files {
 public:
  /// The caller holds the interpreter's lock.
  explicit PythonFiles(const nanobind::object& files) : files_(files.inc_ref()) {}

  Result<std::string> path_of(const std::string& location) override;
  std::string shown(const std::string& path) override;
  Result<storage::Entry> info(const std::string& path) override;
  Result<std::vector<storage::Entry>> list(const std::string& path, bool recursive) override;
  Result<std::unique_ptr<storage::Reader>> open_reader(const std::string& path) override;
  Result<std::unique_ptr<storage::RandomFile>> open_random(const std::string& path) override;
  Result<std::unique_ptr<storage::Writer>> open_writer(const std::string& path, std::uint64_t size,
                                                       std::size_t memory_bytes) override;
  Result<void> make_directory(const std::string& path) override;
  Result<void> remove_file(const std::string& path) override;
  Result<void> remove_tree(const std::string& path) override;

 private:
  nanobind::handle files_;
};

/// What opens URLs by a Python function from a URL to such an object; the caller holds the
/// interpreter's lock. The function is kept for ever.
storage::OpenUrl url_opener(const nanobind::object& open);

}  // namespace headway::bindings
