#pragma once

#include "wire/fd.hpp"

#include <headway/result.hpp>

#include <boost/asio.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

namespace headway::engine {

/// One life of a bridge: a process that reads lines and writes lines. On the loop alone, except
/// `leave`. It ends when its input does: with this object, or with the whole driver, however that
/// ends.
class BridgeProcess : public std::enable_shared_from_this<BridgeProcess> {
 public:
  /// Called on the loop, not from inside a call of this object, until `deafen` or `leave`; neither
  /// is to be called from inside `line` or `error_line`.
  struct Ears {
    std::function<void(std::string line)> line;
    std::function<void(std::string line)> error_line;  ///< Of its standard error.
    /// "with exit code 3"; once. It is no more, and all was heard.
    std::function<void(std::string how)> ended;
  };

  /// Errors: `unavailable`.
  static Result<std::shared_ptr<BridgeProcess>> start(boost::asio::io_context& loop,
                                                      const std::vector<std::string>& command,
                                                      const std::map<std::string, std::string>& env, Ears ears);
  ~BridgeProcess();

  /// False when it has not read what was written before, for 4 MiB: it is of no use any more.
  bool write(const std::string& line);
  /// It is ended at once; `Ears::ended` follows.
  void kill() const;
  /// Nothing is heard any more. Its input ends once it has read what was written.
  void deafen();
  /// After `deafen`, when the loop has stopped: waits for its end, and ends it after `limit`.
  void leave(std::chrono::milliseconds limit);

 private:
  /// A pipe that it writes lines to.
  struct Pipe {
    explicit Pipe(boost::asio::io_context& loop) : stream(loop) {}
    boost::asio::posix::stream_descriptor stream;
    std::string partial;
  };

  explicit BridgeProcess(boost::asio::io_context& loop) : input_(loop), output_(loop), errors_(loop), process_(loop) {}
  void watch();
  void read(Pipe& pipe, const std::function<void(std::string)>& ear);
  /// False at its end.
  static bool read_some(Pipe& pipe, const std::function<void(std::string)>& ear);
  void flush();
  bool flush_some();
  void close_input();
  void reap();

  boost::asio::posix::stream_descriptor input_;
  Pipe output_;
  Pipe errors_;
  boost::asio::posix::stream_descriptor process_;  ///< Readable once it has ended.
  pid_t pid_ = 0;                                  ///< 0: it has been waited for.
  std::string unwritten_;
  bool writes_ = false;
  bool leaves_ = false;
  Ears ears_;
};

}  // namespace headway::engine
