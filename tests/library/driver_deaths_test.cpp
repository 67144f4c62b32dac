#include "library/commit_run.hpp"

#include <array>

/// The driver, a rank or the worker factory dies by SIGKILL at each step of a commit; the same
/// program again resumes the run. Nothing is lost, nothing is twice, and nothing is left.
/// tests/python/test_driver_deaths.py has a few of these with a Python driver.
namespace headway::library {
namespace {

void start_afresh(const CommitProgram& program) {
  std::filesystem::remove_all(program.folder.path());
  std::filesystem::create_directories(program.folder.path());
}

/// Points of a whole run. The number is the passage at which the driver dies.
constexpr std::array points = {
    "lease.taken",
    "lease.written",
    "prepare.found",
    "begin.staged:2",
    "begin.marked:2",
    "begin.renamed:2",
    "commit.answer:2",
    "commit.manifest_written:2",
    "commit.manifest_renamed:2",
    "result.begin:2",
    "commit.directories_synced:2",
    "commit.marker_removed:2",
    "result.end:2",
    "result.end:5",
};

/// Points that are passed a few times: journals, small files, and lines of result.json and
/// progress.csv.
constexpr std::array repeated_points = {"replace.written", "replace.renamed", "journal.begin", "journal.end",
                                        "append.half"};
constexpr int passages_max = 4;

constexpr std::array points_of_deletion = {"remove.renamed:1", "remove.synced:1", "commit.answer:3"};

/// Where one that resumes a run may die: of the first list one after the other, as each changes
/// nothing before it has found everything.
constexpr std::array points_before_a_change = {"lease.taken", "lease.written", "prepare.results_cut", "prepare.found"};
constexpr std::array points_of_resumption = {"replace.written:1", "replace.renamed:3", "journal.begin:1",
                                             "journal.end:1",     "journal.end:2",     "sweep.removed_one",
                                             "remove.renamed:1",  "append.half:1",     "result.end:1"};

constexpr std::array steps = {"begin.staged",
                              "begin.marked",
                              "begin.renamed",
                              "commit.manifest_written",
                              "commit.manifest_renamed",
                              "commit.directories_synced",
                              "commit.marker_removed",
                              "commit.answer",
                              "result.begin",
                              "result.end"};

/// The first upload of the first driver is let through, so that each of those that follow finds a
/// checkpoint.
constexpr std::array upload_steps = {"upload.directories_made:2", "upload.file_copied:1", "upload.files_synced:1",
                                     "upload.directories_synced:1"};

/// A driver that stops at the second commit and has left half a line, as one that was killed
/// between the commit and its line's end.
void leave_unfinished(const CommitProgram& program) {
  start_afresh(program);
  BOOST_TEST(program.dies_at("begin.renamed:3"));
  const std::string text = program.in_run("result.json");
  const std::size_t second = text.find('\n') + 1;
  std::ofstream(program.folder.path() + "/run/result.json") << text.substr(0, second + 40);
}

/// The program as a child of this process, which hears of its stops.
class Driver {
 public:
  Driver(const CommitProgram& program, const std::string& point) {
    const std::string output = program.folder.path() + "/output";
    pid_ = fork();
    if (pid_ != 0) return;
    setenv("HEADWAY_FAULT_POINT", (point + ":stop").c_str(), 1);
    setenv("HEADWAY_WORKER_START", CommitProgram::start.c_str(), 1);
    const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    execl(HEADWAY_TEST_PROGRAM, HEADWAY_TEST_PROGRAM, "commit_epochs", program.folder.path().c_str(), nullptr);
    _exit(127);
  }
  ~Driver() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  bool stops() const {
    int status = 0;
    return waitpid(pid_, &status, WUNTRACED) == pid_ && WIFSTOPPED(status);
  }
  /// Lets it run; its exit code, or -1.
  int resumed() {
    int status = 0;
    ::kill(pid_, SIGCONT);
    waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = 0;
};

/// Kills "0" or "1", the rank, or "factory", which has started both; returns when it is dead.
void kill_one(const CommitProgram& program, const std::string& victim) {
  pid_t rank = 0;
  pid_t factory = 0;
  std::ifstream(program.folder.path() + "/pids_" + (victim == "factory" ? "0" : victim)) >> rank >> factory;
  const pid_t pid = victim == "factory" ? factory : rank;
  BOOST_REQUIRE(pid > 1);
  const Watched watched(pid);
  ::kill(pid, SIGKILL);
  BOOST_REQUIRE(watched.ends());
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(driver_deaths_suite, CommitProgram)

BOOST_AUTO_TEST_CASE(the_driver_dies_at_each_step_of_a_run_and_the_next_one_finishes_it) {
  const auto dies_and_is_resumed = [&](const std::string& point) {
    start_afresh(*this);
    const bool died = dies_at(point);
    BOOST_TEST_CONTEXT(point) {
      if (died) finishes();
      check_complete();
    }
    return died;
  };
  for (const std::string point : points) BOOST_TEST(dies_and_is_resumed(point), point << " was not reached");
  for (const std::string point : repeated_points) {
    BOOST_TEST(dies_and_is_resumed(point + ":1"), point << " was not reached");
    int passage = 2;
    while (passage <= passages_max && dies_and_is_resumed(point + ":" + std::to_string(passage))) ++passage;
  }
}

BOOST_AUTO_TEST_CASE(the_driver_dies_while_old_checkpoints_are_deleted) {
  for (const std::string point : points_of_deletion) {
    start_afresh(*this);
    BOOST_TEST_CONTEXT(point) {
      BOOST_TEST(dies_at(point, "KEEP=1 "));
      finishes("KEEP=1 ");
      check_complete(1);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_driver_dies_and_so_does_the_one_that_resumes_the_run) {
  leave_unfinished(*this);
  for (const std::string point : points_before_a_change) BOOST_TEST(dies_at(point), point << " was not reached");
  finishes();
  check_complete();
  for (const std::string point : points_of_resumption) {
    leave_unfinished(*this);
    BOOST_TEST_CONTEXT(point) {
      BOOST_TEST(dies_at(point));
      finishes();
      check_complete();
    }
  }
}

BOOST_AUTO_TEST_CASE(other_processes_die_while_the_driver_is_at_a_step) {
  for (const std::string step : steps) {
    start_afresh(*this);
    BOOST_TEST_CONTEXT(step) {
      // One driver after another resumes the run, and each loses another process at this step.
      std::string passage = ":2";
      for (const std::string victim : {"0", "1", "factory"}) {
        Driver driver(*this, step + std::exchange(passage, ":1"));
        BOOST_REQUIRE(driver.stops());
        kill_one(*this, victim);
        BOOST_TEST(driver.resumed() == 1);
        check_nothing_lost();
      }
      finishes();
      check_complete();
    }
  }
}

BOOST_AUTO_TEST_CASE(the_ranks_that_store_a_checkpoint_die_in_it) {
  for (const std::string writers : {"0", "1", "01"}) {
    start_afresh(*this);
    const std::string variables = "WRITERS=" + writers + " ";
    for (const std::string step : upload_steps) {
      const Ended ended = again(variables + "HEADWAY_FAULT_POINT=" + step + " ");
      BOOST_TEST_CONTEXT(step << "\n" << ended.output) {
        BOOST_TEST(ended.code == 1);
        BOOST_TEST(ended.says("was killed by SIGKILL"));
        BOOST_TEST(committed() == std::vector<std::int64_t>{0}, boost::test_tools::per_element());
      }
    }
    finishes(variables);
    check_complete(test::committed_epochs, writers);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::library
