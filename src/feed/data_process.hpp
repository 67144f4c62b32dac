#pragma once

#include "wire/fd.hpp"

#include <headway/result.hpp>

#include <chrono>
#include <map>
#include <string>

#include <sys/types.h>

namespace headway::feed {

/// The data process of this machine, from a client's side. The process lives while this object
/// does, in any of its clients; it ends with the last.
class DataProcess {
 public:
  /// Starts `program` (headway-data). With a `folder`, one that was started for the same folder and
  /// still runs is used instead: clients of one folder share one process. Does not wait for the
  /// process: what is sent to it waits in its socket. `environment` is added to this process's.
  /// Errors: `unavailable`.
  static Result<DataProcess> start(const std::string& program, const std::string& folder,
                                   const std::map<std::string, std::string>& environment = {});

  DataProcess(DataProcess&&) noexcept = default;
  DataProcess& operator=(DataProcess&&) noexcept = default;
  ~DataProcess();

  /// The same as the end of this object. Waits a moment for the process, if it has no other client.
  void close();

  const std::string& address() const { return address_; }
  /// Whether it has ended meanwhile: killed, for example. Does not wait.
  bool has_ended() const;
  /// The same, for one that has closed a connection: the system closes the others a moment later.
  /// Waits for that moment.
  bool is_about_to_end() const;

  /// Whether the system's loader can begin `program`: it has every library, and what is needed of
  /// each. Starts the program without a client, and waits for the end of it.
  static bool can_load(const std::string& program, const std::map<std::string, std::string>& environment);

 private:
  DataProcess(std::string address, wire::Fd life, pid_t child)
      : address_(std::move(address)), life_(std::move(life)), child_(child) {}
  bool ends_within(std::chrono::milliseconds limit) const;
  static Result<DataProcess> launch(const std::string& program, const std::map<std::string, std::string>& environment,
                                    bool silent = false);

  std::string address_;
  wire::Fd life_;    ///< A connection that says nothing.
  pid_t child_ = 0;  ///< If it was started here.
};

}  // namespace headway::feed
