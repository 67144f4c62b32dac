#pragma once

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

namespace headway::driver {

/// A child that waits for a signal. When the constructor returns it is up, has dropped what
/// children drop, and has done `first`.
class Child {
 public:
  explicit Child(const std::function<void()>& first = nullptr) {
    int up[2];
    BOOST_REQUIRE(pipe(up) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      if (first) first();
      (void)!::write(up[1], "u", 1);
      for (;;) pause();
    }
    char letter = 0;
    BOOST_REQUIRE(::read(up[0], &letter, 1) == 1);
    close(up[0]);
    close(up[1]);
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void end() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

}  // namespace headway::driver
