#pragma once

#include <headway/result.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace headway::storage {

/// Brings what a directory holds to another one, again and again: each time only the files that are
/// new or have another size or time of change than when they were copied. Nothing is ever deleted
/// there. A file that is there is always whole, with its permission bits and time of change;
/// nothing is fsynced. Symbolic links to files count as the files; links to directories, sockets,
/// pipes and empty directories are left out. The target is a location (core/location.hpp), the
/// source an absolute path; copiers with one target have different names. Used from one thread at a
/// time.
class ArtifactCopier {
 public:
  ArtifactCopier(std::string source, std::string target, std::string name = "artifact")
      : source_(std::move(source)), target_(std::move(target)), name_(std::move(name)) {}

  /// A file that goes while it is copied is left out; one that changes is copied again the next
  /// time. With an error (the first one) the other files are copied all the same. Ends early, with
  /// an error, when `stop` asks for it; a file on its way to remote storage gets there first.
  /// Errors: `unavailable`, and of remote storage `refused`.
  Result<void> copy(const std::stop_token& stop);

 private:
  struct Stamp {
    std::int64_t size = 0;
    std::int64_t changed_ns = 0;
    bool operator==(const Stamp&) const = default;
  };

  void walk(const std::string& relative, const std::stop_token& stop);
  void visit(const std::string& relative, const std::stop_token& stop);
  Result<void> put_one(const std::string& relative);
  Result<void> copy_one(const std::string& relative, const std::stop_token& stop);
  void note(const Error& error);

  std::string source_;
  std::string target_;
  std::string name_;
  std::map<std::string, Stamp> copied_;
  std::optional<Error> first_error_;
};

}  // namespace headway::storage
