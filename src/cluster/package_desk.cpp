#include "cluster/package_desk.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace headway::cluster {
namespace {

Result<void> write_all(int file, const std::string& bytes) {
  for (std::size_t written = 0; written < bytes.size();) {
    const ssize_t more = write(file, bytes.data() + written, bytes.size() - written);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return Error{ErrorKind::unavailable, wire::reason_of(errno)};
    written += static_cast<std::size_t>(more);
  }
  return {};
}

Result<wire::Fd> nameless_file(const std::string& folder, const std::string& bytes) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  std::string path = folder + "/arriving-XXXXXX";
  wire::Fd file(mkostemp(path.data(), O_CLOEXEC));
  if (!file.is_open()) return Error{ErrorKind::unavailable, wire::reason_of(errno)};
  unlink(path.c_str());
  if (auto written = write_all(file.get(), bytes); !written) return written.error();
  return file;
}

}  // namespace

PackageDesk::PackageDesk(boost::asio::io_context& loop, std::string folder,
                         std::function<void(const std::string& hash)> ask)
    : folder_(std::move(folder)), ask_(std::move(ask)), threads_(loop) {}

void PackageDesk::need(std::int64_t worker_id, const std::vector<std::string>& hashes, Ready ready) {
  users_[worker_id] = {std::move(ready)};
  const auto missing = std::make_shared<std::set<std::string>>();
  const auto look = [missing, hashes, folder = folder_] {
    for (const std::string& hash : hashes) {
      std::error_code failure;
      if (!std::filesystem::is_directory(folder + "/" + hash, failure)) missing->insert(hash);
    }
  };
  threads_.run(look, [this, here = std::weak_ptr(alive_), worker_id, missing] {
    if (here.expired()) return;
    const auto user = users_.find(worker_id);
    if (user == users_.end()) return;
    user->second.missing = *missing;
    user->second.looked = true;
    for (const std::string& hash : *missing) {
      if (!here_.contains(hash) && asked_.insert(hash).second) ask_(hash);
    }
    settle(worker_id);
  });
}

void PackageDesk::arrived(const std::string& hash, const wire::Blob& bytes) {
  if (!asked_.contains(hash)) return;
  if (!bytes) return fail(hash, "the driver does not have it any more");
  const auto file = std::make_shared<Result<wire::Fd>>(wire::Fd());
  threads_.run([file, bytes, folder = folder_] { *file = nameless_file(folder, *bytes); },
               [this, here = std::weak_ptr(alive_), hash, file] {
                 if (here.expired()) return;
                 if (!*file) return fail(hash, file->error().message);
                 asked_.erase(hash);
                 here_[hash] = std::make_shared<wire::Fd>(std::move(**file));
                 settle_all();
                 drop_unneeded();
               });
}

void PackageDesk::gone(std::int64_t worker_id) {
  if (users_.erase(worker_id) > 0) drop_unneeded();
}

void PackageDesk::drop_unneeded() {
  std::erase_if(here_, [this](const auto& each) {
    return std::none_of(users_.begin(), users_.end(),
                        [&](const auto& user) { return user.second.missing.contains(each.first); });
  });
}

void PackageDesk::settle(std::int64_t worker_id) {
  User& user = users_.at(worker_id);
  if (!user.ready || !user.looked) return;
  std::map<std::string, std::string> paths;
  for (const std::string& hash : user.missing) {
    const auto found = here_.find(hash);
    if (found == here_.end()) return;
    paths[hash] = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(found->second->get());
  }
  std::exchange(user.ready, nullptr)(paths);
}

void PackageDesk::settle_all() {
  std::vector<std::int64_t> ids;
  for (const auto& [id, user] : users_) ids.push_back(id);
  for (const std::int64_t id : ids) {
    if (users_.contains(id)) settle(id);
  }
}

void PackageDesk::fail(const std::string& hash, const std::string& why) {
  asked_.erase(hash);
  std::vector<Ready> waiting;
  for (auto& [id, user] : users_) {
    if (user.ready && user.missing.contains(hash)) waiting.push_back(std::exchange(user.ready, nullptr));
  }
  const Error error{ErrorKind::unavailable, "a part of runtime_env cannot be stored in " + folder_ + ": " + why};
  for (const Ready& ready : waiting) ready(error);
}

}  // namespace headway::cluster
