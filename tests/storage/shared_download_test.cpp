#include "storage/checkpoint/shared_download.hpp"
#include "core/fault_point.hpp"
#include "storage/scratch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

/// Many real processes ask for one location, and any of them may be killed at any moment.
namespace headway::storage {

namespace {

constexpr std::string_view whole = "the whole file";

/// A pipe: children say where they are, or wait for a word to continue.
struct Pipe {
  Pipe() { BOOST_REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0); }
  ~Pipe() {
    close_writing();
    ::close(ends[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void say(char letter) const { (void)!::write(ends[1], &letter, 1); }
  /// The next letter; 0 at the end, when nobody can write any more.
  char wait() const {
    char letter = 0;
    return ::read(ends[0], &letter, 1) == 1 ? letter : '\0';
  }
  void close_writing() {
    if (ends[1] >= 0) ::close(ends[1]);
    ends[1] = -1;
  }

  std::array<int, 2> ends{-1, -1};
};

int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

struct Downloads : Scratch {
  Downloads() : base(path("downloads")) { fs::create_directory(base); }

  /// Counts its calls in a file, and writes in two steps what is whole only after the second.
  Result<void> fetch(const std::string& directory) const {
    std::ofstream(path("fetches"), std::ios::app) << 'x' << std::flush;
    if (!fs::is_empty(directory)) return Error{ErrorKind::internal, "the directory is not empty"};
    std::ofstream(directory + "/half") << "half";
    fault_point("test.half_fetched");
    std::ofstream(directory + "/model.pt") << whole;
    return {};
  }

  Result<SharedDownload> get(const std::string& location = "s3://bucket/run/checkpoint_000007") const {
    return SharedDownload::get(base, location, [this](const std::string& directory) { return fetch(directory); });
  }

  /// In a child: gets, checks, says 'u' for "using", holds until `go` is closed, checks again and
  /// leaves.
  int use(Pipe& said, Pipe& go) const {
    go.close_writing();
    Result<SharedDownload> got = get();
    if (!got || read(got->directory() + "/model.pt") != whole) return 1;
    said.say('u');
    go.wait();
    return read(got->directory() + "/model.pt") == whole ? 0 : 2;
  }

  /// In a child: gets, checks and leaves; killed where it reaches a fault point for the `step`-th
  /// time.
  int get_and_die_at(int step) const {
    arm_fault_point("*", step);
    const Result<SharedDownload> got = get();
    return got && read(got->directory() + "/model.pt") == whole ? 0 : 1;
  }

  /// Starts processes that use it together, and waits for their clean end.
  void use_by_many(int count) const {
    Pipe said;
    Pipe go;
    std::vector<pid_t> children;
    for (int index = 0; index < count; ++index) children.push_back(start([&] { return use(said, go); }));
    for (int index = 0; index < count; ++index) BOOST_TEST(said.wait() == 'u');
    go.close_writing();
    for (const pid_t child : children) BOOST_TEST(status_of(child) == 0);
  }

  template <class Work>
  pid_t start(const Work& work) const {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(work());
    return child;
  }

  std::size_t fetches() const { return fs::exists(path("fetches")) ? fs::file_size(path("fetches")) : 0; }

  std::string base;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shared_download_suite, Downloads)

BOOST_AUTO_TEST_CASE(many_processes_share_one_download_and_the_last_one_removes_it) {
  use_by_many(12);
  BOOST_TEST(fetches() == 1u);
  BOOST_TEST(fs::is_empty(base));
}

BOOST_AUTO_TEST_CASE(who_comes_later_downloads_again) {
  must(get());
  BOOST_TEST(fs::is_empty(base));
  const SharedDownload again = must(get());
  BOOST_TEST(read(again.directory() + "/model.pt") == whole);
  BOOST_TEST(fetches() == 2u);
}

BOOST_AUTO_TEST_CASE(different_locations_are_different_directories) {
  const SharedDownload one = must(get("s3://bucket/a/c?region=x"));
  const SharedDownload other = must(get("s3://bucket/b/c?region=x"));
  BOOST_TEST(one.directory() != other.directory());
  BOOST_TEST(fs::path(one.directory()).filename().string().starts_with("c-"));
}

BOOST_AUTO_TEST_CASE(a_process_killed_at_each_step_hinders_nobody_after_it) {
  int step = 1;
  for (int ended = -SIGKILL; ended != 0; ++step) {
    BOOST_TEST_CONTEXT("killed at fault point number " << step) {
      ended = status_of(start([&] { return get_and_die_at(step); }));
      BOOST_TEST((ended == -SIGKILL || ended == 0));
      use_by_many(4);
      BOOST_TEST(fs::is_empty(base));
    }
  }
  BOOST_TEST(step > 10);
}

BOOST_AUTO_TEST_CASE(a_process_killed_at_each_step_hinders_nobody_beside_it) {
  for (int step = 1; step < 12; ++step) {
    BOOST_TEST_CONTEXT("killed at fault point number " << step) {
      const pid_t victim = start([&] { return get_and_die_at(step); });
      use_by_many(4);
      const int ended = status_of(victim);
      BOOST_TEST((ended == -SIGKILL || ended == 0));
      sweep_downloads(base);  // The victim may have come last.
      BOOST_TEST(fs::is_empty(base));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_downloader_dies_in_the_middle_and_one_of_those_who_wait_does_it_again) {
  Pipe downloading;
  Pipe never;
  const pid_t victim = start([&] {
    never.close_writing();
    (void)SharedDownload::get(base, "s3://bucket/run/checkpoint_000007", [&](const std::string& directory) {
      (void)fetch(directory);
      downloading.say('d');
      ::pause();
      return Result<void>();
    });
    return 0;
  });
  BOOST_TEST(downloading.wait() == 'd');
  Pipe said;
  Pipe go;
  std::vector<pid_t> others;
  for (int index = 0; index < 6; ++index) others.push_back(start([&] { return use(said, go); }));
  // Nobody gets the half: as long as the downloader lives, they wait.
  ::pollfd ready{said.ends[0], POLLIN, 0};
  BOOST_TEST(::poll(&ready, 1, 200) == 0);
  ::kill(victim, SIGKILL);
  BOOST_TEST(status_of(victim) == -SIGKILL);
  for (std::size_t index = 0; index < others.size(); ++index) BOOST_TEST(said.wait() == 'u');
  go.close_writing();
  for (const pid_t child : others) BOOST_TEST(status_of(child) == 0);
  BOOST_TEST(fetches() == 2u);
  BOOST_TEST(fs::is_empty(base));
}

BOOST_AUTO_TEST_CASE(a_user_is_killed_and_the_next_download_of_anything_removes_its_files) {
  Pipe said;
  Pipe go;
  const pid_t user = start([&] { return use(said, go); });
  BOOST_TEST(said.wait() == 'u');
  sweep_downloads(base);
  BOOST_TEST(!fs::is_empty(base), "it is in use");
  ::kill(user, SIGKILL);
  BOOST_TEST(status_of(user) == -SIGKILL);
  BOOST_TEST(!fs::is_empty(base));
  must(get("s3://bucket/other"));
  BOOST_TEST(fs::is_empty(base));
}

BOOST_AUTO_TEST_CASE(a_forked_child_neither_holds_nor_removes_what_its_parent_uses) {
  Pipe go;
  pid_t child = 0;
  {
    SharedDownload mine = must(get());
    child = start([&] {
      go.close_writing();
      mine.release();  // As when the child ends by an exception: its copy of the object goes.
      go.wait();
      return 0;
    });
    const pid_t quick = start([&] {
      mine.release();
      return 0;
    });
    BOOST_TEST(status_of(quick) == 0);
    BOOST_TEST(read(mine.directory() + "/model.pt") == whole);
  }
  BOOST_TEST(fs::is_empty(base), "the child still lives, and does not hold it");
  go.close_writing();
  BOOST_TEST(status_of(child) == 0);
}

BOOST_AUTO_TEST_CASE(processes_that_come_and_go_are_killed_at_odd_moments_and_all_others_find_whole_files) {
  constexpr int count = 8;
  Pipe said;
  std::vector<pid_t> children;
  for (int index = 0; index < count; ++index) {
    children.push_back(start([&] {
      for (int turn = 0; turn < 60; ++turn) {
        const Result<SharedDownload> got = get();
        if (!got || read(got->directory() + "/model.pt") != whole) return 1;
        said.say('u');
        if (read(got->directory() + "/model.pt") != whole) return 2;
      }
      return 0;
    }));
  }
  // Every 37th use that is reported ends a process, wherever it is by then.
  for (int killed = 0; killed < count / 2; ++killed) {
    for (int uses = 0; uses < 37; ++uses) BOOST_REQUIRE(said.wait() == 'u');
    ::kill(children[killed], SIGKILL);
  }
  said.close_writing();
  while (said.wait() == 'u') {
  }
  for (int index = 0; index < count; ++index) {
    const int ended = status_of(children[index]);
    BOOST_TEST((ended == 0 || (ended == -SIGKILL && index < count / 2)), "process " << index << ": " << ended);
  }
  sweep_downloads(base);
  BOOST_TEST(fs::is_empty(base));
}

BOOST_AUTO_TEST_CASE(a_download_that_fails_leaves_nothing_and_the_next_one_may_succeed) {
  const Error error = error_of(SharedDownload::get(base, "s3://bucket/c", [](const std::string& directory) {
    std::ofstream(directory + "/half") << "half";
    return Result<void>(Error{ErrorKind::unavailable, "the network is away"});
  }));
  BOOST_TEST(error.message == "the network is away");
  BOOST_TEST(fs::is_empty(base));
  BOOST_TEST(read(must(get("s3://bucket/c")).directory() + "/model.pt") == whole);
}

BOOST_AUTO_TEST_CASE(threads_of_one_process_share_it_too) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  {
    const SharedDownload held = must(get());
    for (int index = 0; index < 8; ++index) {
      threads.emplace_back([&] {
        const Result<SharedDownload> got = get();
        if (got && read(got->directory() + "/model.pt") == whole) ++right;
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  BOOST_TEST(right == 8);
  BOOST_TEST(fetches() == 1u);
  BOOST_TEST(fs::is_empty(base));
}

BOOST_AUTO_TEST_CASE(a_wait_can_be_interrupted) {
  Pipe downloading;
  Pipe never;
  const pid_t downloader = start([&] {
    never.close_writing();
    (void)SharedDownload::get(base, "s3://bucket/c", [&](const std::string&) {
      downloading.say('d');
      never.wait();
      return Result<void>();
    });
    return 0;
  });
  BOOST_TEST(downloading.wait() == 'd');
  const pid_t waiter = start([&] {
    never.close_writing();
    struct ::sigaction action = {};
    action.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &action, nullptr);
    ::ualarm(20'000, 20'000);
    const auto got = SharedDownload::get(
        base, "s3://bucket/c", [](const std::string&) { return Result<void>(); }, [] { return true; });
    return !got && got.error().kind == ErrorKind::aborted ? 0 : 1;
  });
  BOOST_TEST(status_of(waiter) == 0);
  never.close_writing();
  BOOST_TEST(status_of(downloader) == 0);
}

BOOST_AUTO_TEST_CASE(the_directory_for_downloads_is_this_users_alone) {
  const std::string temporary = path("tmp");
  fs::create_directory(temporary);
  ::setenv("TMPDIR", temporary.c_str(), 1);
  const std::string directory = must(downloads_directory());
  BOOST_TEST(must(downloads_directory()) == directory);
  BOOST_TEST(directory.starts_with(temporary + "/headway-"));
  const fs::path own = fs::path(directory).parent_path();
  BOOST_TEST((fs::status(own).permissions() == fs::perms::owner_all));
  fs::remove_all(own);
  fs::create_directory(path("elsewhere"));
  fs::create_directory_symlink(path("elsewhere"), own);
  BOOST_TEST(contains(error_of(downloads_directory()).message, "set TMPDIR"));
  ::unsetenv("TMPDIR");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::storage
