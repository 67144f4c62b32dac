#pragma once

#include "node/log_file.hpp"
#include "wire/fd.hpp"
#include "wire/frame.hpp"

#include <boost/asio.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace headway::cluster {

/// Gets to this machine the packages (node::Package) that workers' environments are made of. What
/// lies unpacked in the folder of packages is there already: that is the front end's to fill. What
/// does not is asked of the driver once, however many workers need it, and kept as a file without a
/// name until the last of them has ended, so that nothing is left of it however this process ends.
/// Lives on the agent's loop, which never waits for the disk.
class PackageDesk {
 public:
  /// By hash, the paths under which what has come can be read.
  using Ready = std::function<void(const Result<std::map<std::string, std::string>>& paths)>;

  /// `ask` asks the driver for one package, which is answered by `arrived`.
  PackageDesk(boost::asio::io_context& loop, std::string folder, std::function<void(const std::string& hash)> ask);
  ~PackageDesk() = default;
  PackageDesk(const PackageDesk&) = delete;
  PackageDesk& operator=(const PackageDesk&) = delete;

  /// `ready` is called on the loop, later, unless the worker is gone by then. Errors:
  /// `unavailable`.
  void need(std::int64_t worker_id, const std::vector<std::string>& hashes, Ready ready);
  /// Without bytes: the driver does not have it.
  void arrived(const std::string& hash, const wire::Blob& bytes);
  /// The worker has ended, or is not to be started.
  void gone(std::int64_t worker_id);

 private:
  struct User {
    Ready ready;  ///< Null once it was called.
    std::set<std::string> missing = {};
    bool looked = false;  ///< What is missing is known.
  };
  void settle(std::int64_t worker_id);
  void settle_all();
  void drop_unneeded();
  void fail(const std::string& hash, const std::string& why);

  std::string folder_;
  std::function<void(const std::string& hash)> ask_;
  std::map<std::int64_t, User> users_;
  std::set<std::string> asked_;
  std::map<std::string, std::shared_ptr<wire::Fd>> here_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  node::LogThreads threads_;
};

}  // namespace headway::cluster
