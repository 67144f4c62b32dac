#include "flow/functions/function_desk.hpp"

#include "feed/function_seat.hpp"
#include "flow/functions/function_fixture.hpp"
#include "node/process.hpp"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <csignal>
#include <fcntl.h>
#include <future>
#include <set>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>

/// Function workers that come in from other nodes: real ones, over TLS, of this machine.
namespace headway::flow {
namespace {

/// One that has come in from elsewhere.
class Elsewhere {
 public:
  Elsewhere(const FunctionDesk::Place& place, std::chrono::milliseconds idle_limit = std::chrono::minutes(1)) {
    auto seat = feed::FunctionSeat::take({"127.0.0.1", static_cast<std::uint16_t>(place.port)}, "node-1", place.token,
                                         idle_limit, [this] { kill(SIGKILL); });
    if (!seat) BOOST_FAIL(seat.error().message);
    seat_ = std::move(*seat);
    const wire::Fd link(seat_->release_socket());
    node::ProcessLaunch launch;
    launch.command = {HEADWAY_TEST_PYTHON, "-c",
                      "import sys; sys.path.insert(0, '" HEADWAY_TEST_PYTHON_PATH
                      "'); from headway._worker.functions.worker import main; main()"};
    launch.inherited = {link.get()};
    pid_ = node::launch_process(launch).value();
  }
  ~Elsewhere() {
    kill(SIGKILL);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;

  pid_t pid() const { return pid_; }
  void kill(int signal) const {
    if (pid_ > 0) ::kill(pid_, signal);
  }
  /// Waits for its end by itself.
  void await_end() {
    BOOST_TEST(waitpid(pid(), nullptr, 0) == pid());
    pid_ = -1;
  }

 private:
  std::unique_ptr<feed::FunctionSeat> seat_;
  std::atomic<pid_t> pid_ = -1;
};

struct DeskFixture : FunctionFixture {
  DeskFixture() {
    desk = std::make_shared<FunctionDesk>(&budget);
    desk->on_change(this, [this] {
      const std::lock_guard lock(changing);
      changed.notify_all();
    });
    place = desk->open("127.0.0.1").ValueOrDie();
  }
  ~DeskFixture() {
    if (desk) desk->on_change(this, nullptr);
  }

  void await(int count) {
    std::unique_lock lock(changing);
    BOOST_TEST(changed.wait_for(lock, std::chrono::seconds(30), [&] { return desk->count() == count; }));
  }

  /// A FIFO of the fixture's folder.
  std::string fifo(const std::string& name) const {
    const std::string path = folder.string() + "/" + name;
    if (mkfifo(path.c_str(), 0600) != 0) BOOST_FAIL("no FIFO");
    return path;
  }

  std::shared_ptr<FunctionPool> open_there(FunctionSpec made, feed::OtherNodes others = feed::OtherNodes::first) {
    made.other_nodes = others;
    return FunctionPool::open(host, std::move(made), desk).ValueOrDie();
  }

  std::mutex changing;
  std::condition_variable changed;
  std::shared_ptr<FunctionDesk> desk;
  FunctionDesk::Place place;
};

const std::string tells_pid =
    "import os\n"
    "f = lambda b: {\"x\": b[\"x\"] * 2, \"pid\": b[\"x\"] * 0 + os.getpid()}";

std::vector<std::int64_t> first_values(const arrow::Result<std::vector<std::shared_ptr<arrow::RecordBatch>>>& outputs,
                                       const std::string& name) {
  if (!outputs.ok()) BOOST_FAIL(outputs.status().ToString());
  return values_of(*outputs, name);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(function_desk, DeskFixture)

BOOST_AUTO_TEST_CASE(a_worker_of_another_node_does_units_of_any_size_and_its_rows_are_the_same) {
  const Elsewhere there(place);
  await(1);
  FunctionSpec wanted = spec(tells_pid);
  const auto pool = open_there(wanted);
  for (const std::int64_t rows : {3, 100'000, 5, 2'000'000}) {
    const auto outputs = run(*pool, numbers(7, rows));
    const auto pids = first_values(outputs, "pid");
    BOOST_TEST(pids.size() == static_cast<std::size_t>(rows));
    BOOST_TEST(pids.front() == there.pid());
    const auto values = values_of(*outputs, "x");
    for (std::int64_t row = 0; row < rows; ++row) {
      if (values[static_cast<std::size_t>(row)] != 2 * (7 + row)) BOOST_FAIL("row " + std::to_string(row) + " differs");
    }
  }
}

BOOST_AUTO_TEST_CASE(outputs_that_are_kept_stay_as_they_are_while_others_come) {
  const Elsewhere there(place);
  await(1);
  const auto pool = open_there(spec("f = lambda b: {\"y\": b[\"x\"]}"));
  std::vector<arrow::Result<std::vector<std::shared_ptr<arrow::RecordBatch>>>> kept;
  for (std::int64_t unit = 0; unit < 20; ++unit) kept.push_back(run(*pool, numbers(1000 * unit, 900)));
  for (std::int64_t unit = 0; unit < 20; ++unit) {
    const auto values = first_values(kept[static_cast<std::size_t>(unit)], "y");
    BOOST_TEST(values.front() == 1000 * unit);
    BOOST_TEST(values.back() == 1000 * unit + 899);
  }
}

BOOST_AUTO_TEST_CASE(a_function_may_keep_its_input) {
  const Elsewhere there(place);
  await(1);
  const auto pool =
      open_there(spec("seen = []\n"
                      "def f(b):\n"
                      "    seen.append(b[\"x\"])\n"
                      "    return {\"y\": b[\"x\"] * 0 + sum(int(each[0]) for each in seen)}"));
  BOOST_TEST(first_values(run(*pool, numbers(1, 10)), "y").front() == 1);
  BOOST_TEST(first_values(run(*pool, numbers(20, 10)), "y").front() == 21);
  BOOST_TEST(first_values(run(*pool, numbers(300, 10)), "y").front() == 321);
}

BOOST_AUTO_TEST_CASE(text_travels_as_well) {
  const Elsewhere there(place);
  await(1);
  FunctionSpec wanted = spec("f = lambda row: {\"s\": row[\"s\"] + \"!\"}", "map");
  arrow::StringBuilder builder;
  for (const char* text : {"a", "", "three"}) builder.Append(text).ok();
  const auto batch = batch_of("s", builder.Finish().ValueOrDie());
  wanted.input = batch->schema();
  const auto pool = open_there(wanted);
  const auto outputs = run(*pool, batch);
  if (!outputs.ok()) BOOST_FAIL(outputs.status().ToString());
  const auto texts = values_of<arrow::StringArray>(*outputs, "s");
  BOOST_TEST((texts == std::vector<std::string_view>{"a!", "!", "three!"}));
}

BOOST_AUTO_TEST_CASE(an_exception_keeps_its_class_its_words_and_its_frames) {
  const Elsewhere there(place);
  await(1);
  const auto pool =
      open_there(spec("def f(b):\n"
                      "    raise LookupError(\"no such thing\")"));
  const auto outputs = run(*pool, numbers(0, 5));
  const auto failure = UserFailure::of(outputs.status());
  BOOST_REQUIRE(failure);
  BOOST_TEST(failure->type == "LookupError");
  BOOST_TEST(failure->message.ends_with("LookupError: no such thing"));
  BOOST_TEST(failure->traceback.find("in f") != std::string::npos);
  BOOST_TEST(!failure->pickled.empty());
}

BOOST_AUTO_TEST_CASE(the_unit_of_a_worker_that_dies_elsewhere_is_done_here) {
  Elsewhere there(place);
  await(1);
  const auto pool = open_there(spec(tells_pid));
  BOOST_TEST(first_values(run(*pool, numbers(1, 4)), "pid").front() == there.pid());
  there.kill(SIGKILL);
  there.await_end();
  const auto outputs = run(*pool, numbers(1, 4));
  BOOST_TEST(first_values(outputs, "pid").front() != there.pid());
  BOOST_TEST((values_of(*outputs, "x") == std::vector<std::int64_t>{2, 4, 6, 8}));
  await(0);
}

BOOST_AUTO_TEST_CASE(a_unit_that_kills_its_workers_has_two_attempts_here) {
  const Elsewhere there(place);
  await(1);
  const auto pool =
      open_there(spec("import os\n"
                      "f = lambda b: os.kill(os.getpid(), 9)"));
  const auto outputs = run(*pool, numbers(1, 4));
  BOOST_TEST(outputs.status().message().find("was killed by SIGKILL") != std::string::npos);
  BOOST_TEST(outputs.status().message().ends_with("this was its second attempt"));
}

BOOST_AUTO_TEST_CASE(a_worker_that_nobody_needs_leaves_after_its_limit_and_the_next_unit_is_done_here) {
  Elsewhere there(place, std::chrono::milliseconds(1));
  there.await_end();
  const auto pool = open_there(spec(tells_pid));
  BOOST_TEST(first_values(run(*pool, numbers(1, 4)), "x").front() == 2);
}

BOOST_AUTO_TEST_CASE(one_that_has_left_a_pool_makes_place_for_another_one) {
  auto there = std::make_unique<Elsewhere>(place);
  await(1);
  FunctionSpec wanted = spec(tells_pid);
  const auto pool = open_there(wanted);
  desk->on_change(pool.get(), [&] { pool->desk_changed(); });
  BOOST_TEST(first_values(run(*pool, numbers(1, 4)), "pid").front() == there->pid());
  there.reset();
  await(0);
  const Elsewhere other(place);
  await(1);
  BOOST_TEST(first_values(run(*pool, numbers(1, 4)), "pid").front() == other.pid());
  desk->on_change(pool.get(), nullptr);
}

BOOST_AUTO_TEST_CASE(a_pool_whose_plan_does_not_say_so_takes_none_from_other_nodes) {
  const Elsewhere there(place);
  await(1);
  const auto pool = open_there(spec(tells_pid), feed::OtherNodes::never);
  BOOST_TEST(first_values(run(*pool, numbers(1, 4)), "pid").front() != there.pid());
  BOOST_TEST(desk->free() == 1);
}

BOOST_AUTO_TEST_CASE(a_pool_that_ends_lets_its_workers_go) {
  Elsewhere there(place);
  await(1);
  auto pool = open_there(spec(tells_pid));
  BOOST_TEST(first_values(run(*pool, numbers(1, 4)), "pid").front() == there.pid());
  pool.reset();
  there.await_end();
  await(0);
}

BOOST_AUTO_TEST_CASE(what_is_on_its_way_is_counted_and_given_back) {
  const Elsewhere there(place);
  await(1);
  auto pool = open_there(spec("f = lambda b: {\"y\": b[\"x\"]}"));
  constexpr std::int64_t rows = 1'000'000;
  BOOST_TEST(run(*pool, numbers(0, rows)).ok());
  // The unit in its memory, and on its way; the output likewise.
  BOOST_TEST(budget.peak() >= 3 * rows * 8);
  BOOST_TEST(budget.peak() <= 6 * rows * 8);
  pool.reset();
  await(0);
  desk.reset();
  BOOST_TEST(budget.taken() == 0);
}

BOOST_AUTO_TEST_CASE(beside_its_own_workers_a_pool_has_those_of_other_nodes) {
  const Elsewhere there(place);
  await(1);
  const std::string meeting = fifo("meeting");
  // Two units that wait for each other.
  FunctionSpec wanted = spec(
      "import os\n"
      "def f(b):\n"
      "    os.close(os.open(\"" +
      meeting +
      "\", os.O_RDONLY if b[\"x\"][0] == 0 else os.O_WRONLY))\n"
      "    return {\"pid\": b[\"x\"] * 0 + os.getpid()}");
  wanted.workers_max = 2;
  const auto pool = open_there(wanted, feed::OtherNodes::beside);
  auto one = std::async(std::launch::async, [&] { return run(*pool, numbers(0, 1)); });
  auto other = std::async(std::launch::async, [&] { return run(*pool, numbers(1, 1)); });
  const std::set<std::int64_t> pids{first_values(one.get(), "pid").front(), first_values(other.get(), "pid").front()};
  BOOST_TEST(pids.size() == 2);
  BOOST_TEST(pids.contains(there.pid()));
}

BOOST_AUTO_TEST_CASE(a_pool_that_ends_in_the_middle_of_a_unit_ends_its_worker) {
  Elsewhere there(place);
  await(1);
  const std::string begun = fifo("begun");
  const std::string never = fifo("never");
  auto pool = open_there(spec("import os\ndef f(b):\n    os.close(os.open(\"" + begun +
                              "\", os.O_WRONLY))\n    os.close(os.open(\"" + never + "\", os.O_RDONLY))"));
  auto unit = std::async(std::launch::async, [&] { return run(*pool, numbers(0, 1)); });
  ::close(::open(begun.c_str(), O_RDONLY | O_CLOEXEC));
  pool->stop();
  BOOST_TEST(unit.get().status().IsCancelled());
  there.await_end();
}

BOOST_AUTO_TEST_CASE(a_pool_without_a_worker_does_not_wait_for_those_of_another_pool) {
  const Elsewhere there(place);
  await(1);
  auto gone = std::make_unique<Elsewhere>(place);
  await(2);
  // Each pool has one of them instead of its first worker.
  FunctionSpec wanted = spec(tells_pid);
  const auto one = open_there(wanted);
  const auto other = open_there(wanted);
  const auto pid_of_one = first_values(run(*one, numbers(1, 4)), "pid").front();
  const auto pid_of_other = first_values(run(*other, numbers(1, 4)), "pid").front();
  BOOST_TEST((std::set{pid_of_one, pid_of_other} == std::set<std::int64_t>{there.pid(), gone->pid()}));
  const auto bereft = pid_of_one == gone->pid() ? one : other;
  gone.reset();
  await(1);
  bereft->desk_changed();
  BOOST_TEST(bereft->workers() == 0);
  BOOST_TEST(first_values(run(*bereft, numbers(1, 4)), "x").front() == 2);
}

BOOST_AUTO_TEST_CASE(what_a_worker_hears_first_may_be_long_while_another_one_comes) {
  const Elsewhere there(place);
  await(1);
  const auto pool = open_there(spec("big = b\"x\" * 20_000_000\nf = lambda b: {\"y\": b[\"x\"] * 0 + len(big)}"));
  // The desk's thread is busy until the pool sends, and then wants the pool's ear.
  std::promise<void> told;
  std::promise<void> taken;
  std::once_flag once;
  desk->on_change(pool.get(), [&] {
    std::call_once(once, [&] {
      told.set_value();
      taken.get_future().wait();
    });
    pool->desk_changed();
  });
  auto other = std::async(std::launch::async, [&] { return std::make_unique<Elsewhere>(place); });
  told.get_future().wait();
  auto unit = std::async(std::launch::async, [&] { return run(*pool, numbers(0, 1)); });
  while (desk->free() == 2) std::this_thread::yield();
  taken.set_value();
  BOOST_TEST(first_values(unit.get(), "y").front() == 20'000'000);
  BOOST_TEST(other.get()->pid() != there.pid());
  desk->on_change(pool.get(), nullptr);
}

BOOST_AUTO_TEST_CASE(without_descriptors_a_worker_that_came_leaves_and_its_unit_is_done_here) {
  Elsewhere there(place);
  await(1);
  const auto pool = open_there(spec(tells_pid));
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 0;
  setrlimit(RLIMIT_NOFILE, &none);
  const bool taken = desk->take().has_value();
  setrlimit(RLIMIT_NOFILE, &before);
  BOOST_TEST(!taken);
  BOOST_TEST(desk->free() == 0);
  await(0);
  there.await_end();
  BOOST_TEST(first_values(run(*pool, numbers(1, 4)), "x").front() == 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace headway::flow
