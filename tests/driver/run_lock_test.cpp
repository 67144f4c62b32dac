#include "driver/run_lock.hpp"

#include "driver/child.hpp"
#include "storage/scratch.hpp"

#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headway::driver {

namespace {

using storage::Scratch;

void write_owner(const std::string& directory, const Owner& owner) {
  std::ofstream(directory + "/.headway.owner") << to_json_text(owner);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_lock_suite)

BOOST_AUTO_TEST_CASE(a_folder_has_one_owner_and_the_next_hears_who) {
  const Scratch scratch;
  {
    const Result<RunLock> first = RunLock::take(scratch.run, this_owner({}));
    BOOST_REQUIRE(first.has_value());
    BOOST_TEST(!first->unlocked_reason().has_value());
    const Result<RunLock> second = RunLock::take(scratch.run, this_owner({}));
    BOOST_REQUIRE(!second.has_value());
    BOOST_TEST((second.error().kind == ErrorKind::already_exists));
    BOOST_TEST(second.error().message.find("is under way in this process already") != std::string::npos);
    Owner other = this_owner({});
    other.driver.pid = 1;
    const Result<RunLock> third = RunLock::take(scratch.run, other);
    BOOST_REQUIRE(!third.has_value());
    BOOST_TEST(third.error().message.find("has a driver already: pid " + std::to_string(getpid())) !=
               std::string::npos);
  }
  BOOST_TEST(RunLock::take(scratch.run, this_owner({})).has_value(), "it was given up");
}

BOOST_AUTO_TEST_CASE(a_forked_child_does_not_keep_the_folder) {
  const Scratch scratch;
  std::optional<RunLock> lock;
  {
    Result<RunLock> taken = RunLock::take(scratch.run, this_owner({}));
    BOOST_REQUIRE(taken.has_value());
    lock.emplace(std::move(*taken));
  }
  const Child child;
  lock.reset();
  BOOST_TEST(RunLock::take(scratch.run, this_owner({})).has_value());
}

BOOST_AUTO_TEST_CASE(a_folder_that_was_moved_deleted_or_replaced_is_noticed) {
  const Scratch scratch;
  const std::string folder = scratch.run + "/run";
  BOOST_REQUIRE(mkdir(folder.c_str(), 0755) == 0);
  const Result<RunLock> lock = RunLock::take(folder, this_owner({}));
  BOOST_REQUIRE(lock.has_value());
  BOOST_TEST(lock->in_place());
  BOOST_REQUIRE(rename(folder.c_str(), (scratch.run + "/moved").c_str()) == 0);
  BOOST_TEST(!lock->in_place());
  BOOST_REQUIRE(mkdir(folder.c_str(), 0755) == 0);
  const Result<RunLock> another = RunLock::take(folder, this_owner({}));
  BOOST_REQUIRE(another.has_value());
  BOOST_TEST(another->in_place());
  BOOST_TEST(!lock->in_place());
}

BOOST_AUTO_TEST_CASE(what_a_killed_driver_left_is_waited_for) {
  const Scratch scratch;
  Child driver;
  Child guard;
  Owner former = this_owner({guard.pid()});
  former.driver = node::identity_of(driver.pid());
  write_owner(scratch.run, former);
  driver.end();
  // Another process ends the guard, while this one waits.
  const pid_t ender = fork();
  if (ender == 0) {
    kill(guard.pid(), SIGKILL);
    _exit(0);
  }
  const Result<RunLock> lock = RunLock::take(scratch.run, this_owner({}));
  BOOST_TEST(lock.has_value());
  BOOST_TEST(!node::is_alive(former.guards.front()));
  waitpid(ender, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(the_guards_of_a_driver_that_lives_are_no_reason_to_wait) {
  const Scratch scratch;
  const Child driver;
  const Child guard;
  Owner former = this_owner({guard.pid()});
  former.driver = node::identity_of(driver.pid());
  write_owner(scratch.run, former);
  BOOST_TEST(RunLock::take(scratch.run, this_owner({})).has_value());
}

BOOST_AUTO_TEST_CASE(an_owner_that_died_while_it_wrote_who_it_is_is_nobody) {
  const Scratch scratch;
  std::ofstream(scratch.run + "/.headway.owner") << R"({"host": "a", "dri)";
  BOOST_TEST(RunLock::take(scratch.run, this_owner({})).has_value());
}

BOOST_AUTO_TEST_CASE(a_pid_that_was_given_again_is_another_process) {
  const Child child;
  node::ProcessIdentity identity = node::identity_of(child.pid());
  BOOST_TEST(node::is_alive(identity));
  BOOST_TEST(!node::wait_for_end(identity, std::chrono::milliseconds(0)));
  identity.started -= 1;
  BOOST_TEST(!node::is_alive(identity));
  BOOST_TEST(node::wait_for_end(identity, std::chrono::milliseconds(0)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::driver
