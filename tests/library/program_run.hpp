#pragma once

#include <boost/test/unit_test.hpp>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sstream>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace headway::library {

/// A folder for one test, removed at its end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "headway_library_XXXXXX").string();
    BOOST_REQUIRE(mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A program's end: its exit code (128 and the signal's number when a shell would say so) and all
/// that it printed.
struct Ended {
  int code = 0;
  std::string output;
  bool says(const std::string& text) const { return output.find(text) != std::string::npos; }
};

/// A process that is watched from the moment that it is known to live.
class Watched {
 public:
  explicit Watched(pid_t pid) : fd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) { BOOST_REQUIRE(fd_ >= 0); }
  Watched(Watched&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Watched() {
    if (fd_ >= 0) close(fd_);
  }
  /// Whether it ends within 20 seconds.
  bool ends() const {
    pollfd watch{fd_, POLLIN, 0};
    return poll(&watch, 1, 20'000) == 1;
  }

 private:
  int fd_;
};

/// A shell command under way, read line by line.
class Pipe {
 public:
  explicit Pipe(const std::string& command) {
    int ends[2];
    BOOST_REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      // A shell that runs the tests in the background has it ignored.
      std::signal(SIGINT, SIG_DFL);
      dup2(ends[1], STDOUT_FILENO);
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    lines_ = fdopen(ends[0], "r");
  }
  ~Pipe() {
    kill();
    std::fclose(lines_);
  }
  /// The next line. Fails the test at the end of the output.
  std::string line() {
    std::array<char, 4096> buffer{};
    BOOST_REQUIRE(std::fgets(buffer.data(), buffer.size(), lines_) != nullptr);
    return buffer.data();
  }
  void kill() { end_by(SIGKILL); }
  /// Sends the signal and waits for the end: the status as waitpid gives it.
  int end_by(int signal) {
    int status = 0;
    if (pid_ == 0) return status;
    ::kill(pid_, signal);
    waitpid(std::exchange(pid_, 0), &status, 0);
    return status;
  }
  /// All that is still to be read, when every process that writes has ended.
  std::string rest() {
    std::string text;
    for (int letter = std::fgetc(lines_); letter != EOF; letter = std::fgetc(lines_)) text += static_cast<char>(letter);
    return text;
  }

 private:
  pid_t pid_ = 0;
  std::FILE* lines_ = nullptr;
};

/// The processes of a program whose two ranks print "pids OWN FACTORY": these, as soon as both
/// have.
inline std::vector<Watched> processes_of(Pipe& pipe) {
  std::vector<Watched> processes;
  while (processes.size() < 4) {
    const std::string line = pipe.line();
    const std::size_t found = line.find("pids ");
    if (found == std::string::npos) continue;
    std::istringstream numbers(line.substr(found + 5));
    for (pid_t pid = 0; numbers >> pid;) processes.emplace_back(pid);
  }
  return processes;
}

/// Runs a shell command to its end.
inline Ended run_command(const std::string& command) {
  Ended ended;
  // NOLINTNEXTLINE(bugprone-command-processor)
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  BOOST_REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer{};
  for (std::size_t read = fread(buffer.data(), 1, buffer.size(), pipe); read > 0;
       read = fread(buffer.data(), 1, buffer.size(), pipe)) {
    ended.output.append(buffer.data(), read);
  }
  const int status = pclose(pipe);
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ended;
}

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer starts a thread, so no program built with it can be forked.
inline constexpr bool can_fork = false;
#else
inline constexpr bool can_fork = true;
#endif

/// tests/library/train_program.cpp in a separate folder.
struct TrainProgram {
  /// `variables`: of its environment, such as "NAME=value ".
  Ended run(const std::string& mode, const std::string& start, const std::string& variables = "") const {
    return run_command(variables + "HEADWAY_WORKER_START=" + start + " " HEADWAY_TEST_PROGRAM " " + mode + " " +
                       folder.path());
  }
  /// In either way; `check` gets the end and a new folder was made for each.
  template <class Check>
  void both(const std::string& mode, Check check, const std::string& variables = "") const {
    for (const std::string start : {"fork", "exec"}) {
      if (start == "fork" && !can_fork) continue;
      BOOST_TEST_CONTEXT(mode << ", workers by " << start) {
        std::filesystem::remove_all(folder.path());
        std::filesystem::create_directories(folder.path());
        const Ended ended = run(mode, start, variables);
        BOOST_TEST_CONTEXT(ended.output) { check(ended); }
      }
    }
  }
  Folder folder;
};

}  // namespace headway::library
