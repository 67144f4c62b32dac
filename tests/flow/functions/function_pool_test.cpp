#include "flow/functions/function_pool.hpp"

#include "flow/functions/function_fixture.hpp"
#include "flow/functions/wider_schema.hpp"
#include "flow/item_turn.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <fstream>
#include <future>
#include <set>
#include <thread>

BOOST_FIXTURE_TEST_SUITE(function_pool, headway::flow::FunctionFixture)

using headway::flow::batch_of;
using headway::flow::Budget;
using headway::flow::FunctionHost;
using headway::flow::FunctionHostLaunch;
using headway::flow::FunctionPool;
using headway::flow::FunctionWork;
using headway::flow::ItemTurn;
using headway::flow::numbers;
using headway::flow::StartedWorker;
using headway::flow::UserFailure;
using headway::flow::values_of;

BOOST_AUTO_TEST_CASE(a_function_of_numbers_gets_batches_of_its_size_and_gives_their_doubles_in_order) {
  auto doubled = spec("f = lambda b: {\"y\": b[\"x\"] * 2, \"rows\": [len(b[\"x\"])] * len(b[\"x\"])}");
  doubled.calls.front().batch_size = 4;
  const auto pool = open(doubled);
  const auto outputs = run(*pool, numbers(0, 10)).ValueOrDie();
  BOOST_TEST(values_of(outputs, "y") == std::vector<std::int64_t>({0, 2, 4, 6, 8, 10, 12, 14, 16, 18}),
             boost::test_tools::per_element());
  BOOST_TEST(values_of(outputs, "rows") == std::vector<std::int64_t>({4, 4, 4, 4, 4, 4, 4, 4, 2, 2}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(text_and_nulls_go_to_a_function_and_back) {
  arrow::StringBuilder builder;
  BOOST_TEST(builder.AppendValues({"a", "", "c"}).ok());
  BOOST_TEST(builder.AppendNull().ok());
  const auto input = batch_of("t", builder.Finish().ValueOrDie());
  auto copied = spec("f = lambda b: {\"t\": b[\"t\"], \"none\": [v is None for v in b[\"t\"]]}");
  copied.input = input->schema();
  const auto outputs = run(*open(copied), input).ValueOrDie();
  BOOST_REQUIRE_EQUAL(outputs.size(), 1);
  BOOST_TEST(outputs[0]->GetColumnByName("t")->Equals(input->column(0)));
  BOOST_TEST(values_of<arrow::BooleanArray>(outputs, "none") == std::vector<bool>({false, false, false, true}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_exception_arrives_with_its_class_the_users_frames_and_the_rows) {
  auto bad = spec("def f(b):\n  if 5 in b[\"x\"]: raise KeyError(\"no five\")\n  return b");
  bad.calls.front().batch_size = 4;
  FunctionWork work;
  work.where = "a.parquet, row group 1";
  const auto failed = run(*open(bad), numbers(0, 10), work);
  const auto failure = UserFailure::of(failed.status());
  BOOST_REQUIRE(failure);
  BOOST_TEST(failure->type == "KeyError");
  BOOST_TEST(failure->message == "map_batches(f), a.parquet, row group 1, rows 4 to 7 of it: KeyError: 'no five'");
  BOOST_TEST(failure->traceback.starts_with("Traceback (most recent call last):\n  File \"<string>\", line 2, in f"));
  BOOST_TEST(failure->pickled.find("KeyError") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_worker_goes_on_after_an_exception) {
  const auto pool = open(spec("def f(b):\n  assert b[\"x\"][0] == 0\n  return b"));
  BOOST_TEST(!run(*pool, numbers(7, 3)).ok());
  BOOST_TEST(values_of(run(*pool, numbers(0, 2)).ValueOrDie(), "x").size() == 2);
}

BOOST_AUTO_TEST_CASE(a_worker_dies_and_another_does_its_unit_once_more) {
  const std::string marker = (folder / "died").string();
  const auto pool = open(spec("def f(b):\n  import os\n  if not os.path.exists(\"" + marker + "\"):\n    open(\"" +
                              marker + "\", \"w\").close()\n    os.kill(os.getpid(), 9)\n  return b"));
  BOOST_TEST(values_of(run(*pool, numbers(0, 3)).ValueOrDie(), "x").size() == 3);
  BOOST_TEST(pool->workers() == 1);
}

BOOST_AUTO_TEST_CASE(a_worker_that_dies_twice_fails_the_unit_with_its_signal_and_its_last_lines) {
  const auto pool = open(spec("def f(b):\n  import os\n  print(\"nearly full\")\n  os.kill(os.getpid(), 9)"));
  FunctionWork work;
  work.where = "a.parquet";
  const auto failed = run(*pool, numbers(0, 3), work);
  BOOST_TEST(failed.status().message() ==
             "map_batches(f), a.parquet: the worker was killed by SIGKILL (the system does that when memory runs "
             "out); the last lines that it printed:\n  nearly full; this was its second attempt");
}

BOOST_AUTO_TEST_CASE(rows_that_were_delivered_before_a_death_are_not_delivered_again) {
  const std::string marker = (folder / "late").string();
  auto late = spec(
      "import numpy as np\ndef f(b):\n  import os\n  big = np.zeros((len(b[\"x\"]), 1 << 20), np.uint8)\n"
      "  yield {\"x\": b[\"x\"], \"big\": big}\n  yield {\"x\": b[\"x\"] + 100, \"big\": big}\n"
      "  if not os.path.exists(\"" +
      marker + "\"):\n    open(\"" + marker +
      "\", \"w\").close()\n    os._exit(3)\n  yield {\"x\": b[\"x\"] + 200, \"big\": big}");
  BOOST_TEST(values_of(run(*open(late), numbers(0, 5)).ValueOrDie(), "x") ==
                 std::vector<std::int64_t>({0, 1, 2, 3, 4, 100, 101, 102, 103, 104, 200, 201, 202, 203, 204}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(later_outputs_get_the_type_of_the_first_or_an_error_that_names_the_column) {
  const auto pool = open(spec("def f(b):\n  n = int(b[\"x\"][0])\n  return {\"y\": [[1.5], [2], [\"a\"]][n]}"));
  BOOST_TEST(run(*pool, numbers(0, 1)).ok());
  BOOST_TEST(values_of<arrow::DoubleArray>(run(*pool, numbers(1, 1)).ValueOrDie(), "y").front() == 2.0);
  BOOST_TEST(run(*pool, numbers(2, 1)).status().message() ==
             "map_batches(f): column \"y\" is string; expected double, as in the first output");
}

BOOST_AUTO_TEST_CASE(arrays_of_8_bit_numbers_keep_their_type_whichever_output_is_the_first) {
  const std::string arrays =
      "import numpy as np\nkinds = [np.uint8, np.float32, np.int8]\n"
      "def f(b):\n  n = int(b[\"x\"][0])\n  return {\"y\": np.zeros((1, n + 1), kinds[n])}";
  const int plan = 0;
  FunctionWork work;
  work.owner = &plan;
  for (const auto& [first, later, first_kind, later_kind] :
       {std::tuple(0, 1, "uint8", "float"), std::tuple(1, 0, "float", "uint8"), std::tuple(0, 2, "uint8", "int8")}) {
    const auto pool = open(spec(arrays));
    BOOST_TEST(run(*pool, numbers(first, 1), work).ok());
    const auto misfit = run(*pool, numbers(later, 1), work).status();
    BOOST_TEST(!headway::flow::is_schema_widened(misfit));
    BOOST_TEST(misfit.message().find(later_kind) < misfit.message().find("; expected"), misfit.message());
    BOOST_TEST(misfit.message().find(first_kind, misfit.message().find("; expected")) != std::string::npos);
    BOOST_TEST(misfit.message().find("(arrays of 8-bit numbers do not become others: make all of one dtype)") !=
               std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(outputs_for_rows_of_another_giver_have_types_that_differ) {
  const auto pool = open(spec("def f(b):\n  return {\"y\": [[1.5], [\"a\"]][int(b[\"x\"][0])]}"));
  FunctionWork other;
  other.giver = "another plan";
  BOOST_TEST(run(*pool, numbers(0, 1)).ok());
  BOOST_TEST(run(*pool, numbers(1, 1), other).ok());
  BOOST_TEST(pool->schema("", nullptr)->field(0)->type()->Equals(*arrow::float64()));
  BOOST_TEST(pool->schema("another plan", nullptr)->field(0)->type()->Equals(*arrow::utf8()));
  BOOST_TEST(!run(*pool, numbers(1, 1)).ok());
}

BOOST_AUTO_TEST_CASE(an_output_of_another_shape_fails_for_its_owner_and_later_owners_have_room_for_it) {
  const auto pool = open(spec("import numpy as np\nf = lambda b: {\"y\": np.ones((1, int(b[\"x\"][0]) + 1))}"));
  const int plans[2] = {};
  FunctionWork first;
  first.owner = &plans[0];
  FunctionWork second;
  second.owner = &plans[1];
  const auto narrow = run(*pool, numbers(0, 1), first).ValueOrDie().front()->schema();
  const auto misfit = run(*pool, numbers(1, 1), first).status();
  BOOST_TEST(headway::flow::is_schema_widened(misfit));
  BOOST_TEST(misfit.message().find("the shape [2], and those before it [1]") != std::string::npos);
  BOOST_TEST(run(*pool, numbers(0, 1), first).ValueOrDie().front()->schema()->Equals(*narrow));
  const auto wide = run(*pool, numbers(0, 1), second).ValueOrDie().front()->schema();
  BOOST_TEST(wide->field(0)->type()->ToString().find("variable_shape_tensor") != std::string::npos);
  BOOST_TEST(run(*pool, numbers(1, 1), second).ValueOrDie().front()->schema()->Equals(*wide));
  pool->forget_caller(&plans[0]);
  BOOST_TEST(pool->schema("", &plans[0])->Equals(*wide));
}

BOOST_AUTO_TEST_CASE(a_function_that_hangs_ends_with_its_pool) {
  const auto pool = open(spec("def f(b):\n  import signal\n  print(\"here\")\n  signal.pause()"));
  arrow::Status ended;
  std::thread caller([&] { ended = run(*pool, numbers(0, 1)).status(); });
  BOOST_TEST(first_line() == "(map_batches(f) #1) here");
  pool->stop();
  caller.join();
  BOOST_TEST(ended.IsCancelled());
}

BOOST_AUTO_TEST_CASE(a_sink_that_wants_no_more_stops_the_function) {
  const auto pool =
      open(spec("def f(b):\n  import numpy as np\n  for i in range(10**9):\n    yield {\"y\": "
                "np.zeros(1 << 20)}"));
  int outputs = 0;
  const auto stopped = pool->process({}, numbers(0, 1), [&](std::shared_ptr<arrow::RecordBatch>) {
    return ++outputs < 3 ? arrow::Status::OK() : arrow::Status::Cancelled("enough");
  });
  BOOST_TEST(stopped.message() == "enough");
  BOOST_TEST(outputs == 3);
}

BOOST_AUTO_TEST_CASE(threads_share_workers_and_more_are_started_while_callers_wait) {
  auto shared = spec("def f(b):\n  import os\n  return {\"x\": b[\"x\"], \"pid\": [os.getpid()] * len(b[\"x\"])}");
  shared.workers_max = 2;
  const auto pool = open(shared);
  std::mutex guard;
  std::set<std::int64_t> pids;
  std::int64_t sum = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      for (int i = 0; i < 25; ++i) {
        const auto outputs = run(*pool, numbers(caller * 25 + i, 1)).ValueOrDie();
        const std::lock_guard lock(guard);
        sum += values_of(outputs, "x").front();
        pids.insert(values_of(outputs, "pid").front());
      }
    });
  }
  for (std::thread& each : callers) each.join();
  BOOST_TEST(sum == 99 * 100 / 2);
  BOOST_TEST(pids.size() == 2);
  BOOST_TEST(pool->workers() == 2);
}

BOOST_AUTO_TEST_CASE(random_numbers_are_those_of_seed_epoch_and_unit) {
  const std::string code =
      "import random, numpy as np\ndef f(b):\n  return {\"y\": [random.random() + np.random.rand()]}";
  const auto draw = [&](std::uint64_t seed, std::int64_t epoch, std::int64_t unit) {
    FunctionWork work;
    work.seed = seed;
    work.epoch = epoch;
    work.unit = unit;
    return values_of<arrow::DoubleArray>(run(*open(spec(code)), numbers(0, 1), work).ValueOrDie(), "y").front();
  };
  const double first = draw(1, 2, 3);
  BOOST_TEST(draw(1, 2, 3) == first);
  BOOST_TEST(draw(2, 2, 3) != first);
  BOOST_TEST(draw(1, 3, 3) != first);
  BOOST_TEST(draw(1, 2, 4) != first);
}

BOOST_AUTO_TEST_CASE(a_batch_that_a_function_keeps_is_not_overwritten) {
  const auto pool =
      open(spec("kept = []\ndef f(b):\n  kept.append(b[\"x\"])\n  return {\"y\": [int(k[0]) for k in kept]}"));
  BOOST_TEST(run(*pool, numbers(1, 5)).ok());
  BOOST_TEST(run(*pool, numbers(2, 5)).ok());
  BOOST_TEST(values_of(run(*pool, numbers(3, 5)).ValueOrDie(), "y") == std::vector<std::int64_t>({1, 2, 3}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(thousands_of_units_use_the_same_memory) {
  const auto pool = open(spec("f = lambda b: {\"y\": b[\"x\"] * 2}"));
  std::shared_ptr<arrow::RecordBatch> held;
  for (int i = 0; i < 2000; ++i) held = run(*pool, numbers(i, 100)).ValueOrDie().front();
  BOOST_TEST(values_of({held}, "y").back() == (1999 + 99) * 2);
  BOOST_TEST(pool->slot_bytes() <= 3 * (4 << 20));
}

BOOST_AUTO_TEST_CASE(memory_shared_with_workers_is_of_the_budget_while_somebody_has_it) {
  auto pool = open(spec("def f(b): return {\"y\": b[\"x\"].repeat(8)}"));
  BOOST_TEST(budget.taken() == 0);
  auto held = run(*pool, numbers(0, 200'000)).ValueOrDie();
  BOOST_TEST(budget.taken() == pool->slot_bytes());
  BOOST_TEST(budget.taken() >= 9 * 200'000 * 8);
  pool.reset();
  BOOST_TEST(budget.taken() >= 8 * 200'000 * 8);
  held.clear();
  BOOST_TEST(budget.taken() == 0);
}

BOOST_AUTO_TEST_CASE(a_class_is_constructed_once_a_worker_and_its_failure_names_it) {
  const auto pool =
      open(spec("class f:\n  def __init__(self): self.calls = 0\n  def __call__(self, b):\n"
                "    self.calls += 1\n    return {\"y\": [self.calls]}"));
  for (std::int64_t call = 1; call <= 3; ++call) {
    BOOST_TEST(values_of(run(*pool, numbers(0, 1)).ValueOrDie(), "y").front() == call);
  }
  const auto failed =
      run(*open(spec("class f:\n  def __init__(self): raise OSError(\"no model\")\n  __call__ = 1")), numbers(0, 1));
  BOOST_TEST(failed.status().message() == "map_batches(f), while it was made: OSError: no model");
}

BOOST_AUTO_TEST_CASE(a_source_makes_units_from_their_numbers) {
  auto source = spec("def f(i): return [{\"id\": i * 10 + k} for k in range(3)]", "source");
  source.input = nullptr;
  FunctionWork work;
  work.unit = 4;
  BOOST_TEST(values_of(run(*open(source), nullptr, work).ValueOrDie(), "id") == std::vector<std::int64_t>({40, 41, 42}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_host_that_was_killed_is_started_again_for_the_next_pool) {
  const auto pool = open(spec("def f(b):\n  import os\n  return {\"y\": [os.getppid()]}"));
  const auto parent = values_of(run(*pool, numbers(0, 1)).ValueOrDie(), "y").front();
  kill(static_cast<pid_t>(parent), SIGKILL);
  const auto second = open(spec("def f(b):\n  import os\n  return {\"y\": [os.getppid()]}"));
  BOOST_TEST(values_of(run(*second, numbers(0, 1)).ValueOrDie(), "y").front() != parent);
}

/// A function that returns its host's process and its own; `first`: what it does at the first
/// attempt at each unit.
std::string tells_processes(const std::string& folder, const std::string& first) {
  return "import os\ndef f(b):\n  mark = \"" + folder +
         "/mark\" + str(b[\"x\"][0])\n  if not os.path.exists(mark):\n    open(mark, \"w\").close()\n    " + first +
         "\n  return {\"x\": b[\"x\"], \"host\": [os.getppid()], \"worker\": [os.getpid()]}";
}

BOOST_AUTO_TEST_CASE(a_worker_that_the_dying_host_never_started_is_no_attempt) {
  const auto pool = open(spec(tells_processes(folder.string(), "os.kill(os.getppid(), 9), os.kill(os.getpid(), 9)")));
  for (int unit = 0; unit < 12; ++unit) {
    const auto outputs = run(*pool, numbers(unit, 1));
    BOOST_TEST_REQUIRE(outputs.ok(), outputs.status().ToString());
    BOOST_TEST(values_of(*outputs, "x").front() == unit);
  }
}

BOOST_AUTO_TEST_CASE(a_worker_that_was_killed_with_its_host_before_it_got_the_unit_is_no_attempt) {
  const auto pool = open(spec(tells_processes(folder.string(), "x = b[\"x\"][0] % 2 and os.kill(os.getpid(), 9)")));
  for (int unit = 0; unit < 12; unit += 2) {
    const auto idle = run(*pool, numbers(unit, 1)).ValueOrDie();
    kill(static_cast<pid_t>(values_of(idle, "host").front()), SIGKILL);
    kill(static_cast<pid_t>(values_of(idle, "worker").front()), SIGKILL);
    const auto outputs = run(*pool, numbers(unit + 1, 1));
    BOOST_TEST_REQUIRE(outputs.ok(), outputs.status().ToString());
    BOOST_TEST(values_of(*outputs, "x").front() == unit + 1);
  }
}

BOOST_AUTO_TEST_CASE(workers_beyond_two_are_of_the_budget_up_to_a_quarter) {
  Budget small{std::int64_t{160} << 20};
  FunctionHostLaunch of_small = launch();
  of_small.budget = &small;
  const auto other = FunctionHost::start(of_small).ValueOrDie();
  std::vector<StartedWorker> workers;
  std::vector<std::int64_t> taken;
  for (int i = 0; i < 5; ++i) {
    workers.push_back(other->start_worker("worker").ValueOrDie());
    taken.push_back(small.taken() >> 20);
  }
  BOOST_TEST(taken == (std::vector<std::int64_t>{0, 0, 24, 40, 40}), boost::test_tools::per_element());
  for (const StartedWorker& worker : workers) other->kill_worker(worker.id);
  BOOST_TEST(small.taken() == 0);
}

BOOST_AUTO_TEST_CASE(a_host_that_always_ends_is_started_a_few_times_only) {
  FunctionHostLaunch broken = launch();
  // It ends with the first message.
  broken.command = {"/bin/sh", "-c", "head -c 1 <&3 > /dev/null"};
  auto failing = FunctionHost::start(broken).ValueOrDie();
  const auto pool = FunctionPool::open(failing, spec("f = lambda b: b")).ValueOrDie();
  const auto failed = run(*pool, numbers(0, 1)).status();
  BOOST_TEST(failed.message() ==
             "map_batches(f): the worker ended with the process that had started it; this was its second attempt");
}

BOOST_AUTO_TEST_CASE(a_module_that_leaves_a_thread_behind_is_imported_by_workers_that_are_no_forks) {
  std::ofstream(folder / "threaded.py") << "import threading\n"
                                           "threading.Thread(target=threading.Event().wait, daemon=True).start()\n";
  const auto pool = open(spec("import sys\nsys.path.append(\"" + folder.string() +
                              "\")\nimport threaded\ndef f(b):\n  threaded\n  return {\"exec\": [b\"functions.worker\" "
                              "in open(\"/proc/self/cmdline\", \"rb\").read()]}"));
  BOOST_TEST(values_of<arrow::BooleanArray>(run(*pool, numbers(0, 1)).ValueOrDie(), "exec").front());
}

BOOST_AUTO_TEST_CASE(a_caller_that_is_stopped_leaves_the_pool_to_others) {
  const auto pool =
      open(spec("def f(b):\n  import signal\n  if b[\"x\"][0] == 7:\n    print(\"here\")\n    signal.pause()\n"
                "  return b"));
  const int one = 1;
  arrow::Status ended;
  std::thread caller([&] { ended = pool->process({}, numbers(7, 1), [](auto) { return arrow::Status::OK(); }, &one); });
  first_line();
  pool->stop_caller(&one);
  caller.join();
  BOOST_TEST(ended.IsCancelled());
  BOOST_TEST(values_of(run(*pool, numbers(3, 1)).ValueOrDie(), "x").front() == 3);
}

BOOST_AUTO_TEST_CASE(a_call_whose_rows_nobody_pulls_learns_that_another_one_waits_for_its_worker) {
  const auto pool = open(spec("f = lambda b: {\"y\": b[\"x\"]}"));
  ItemTurn later;
  std::promise<void> has_worker;
  auto second = std::async(std::launch::async, [&] {
    ItemTurn::current() = &later;
    return pool->process({}, numbers(1, 1), [&](const auto&) {
      BOOST_TEST(!later.is_in_the_way());
      has_worker.set_value();
      while (!later.is_in_the_way()) std::this_thread::yield();
      return arrow::Status::OK();
    });
  });
  has_worker.get_future().wait();
  ItemTurn sooner;
  auto first = std::async(std::launch::async, [&] {
    ItemTurn::current() = &sooner;
    return run(*pool, numbers(5, 1));
  });
  sooner.awaited = true;
  BOOST_TEST(values_of(first.get().ValueOrDie(), "y").front() == 5);
  BOOST_TEST(second.get().ok());
  BOOST_TEST(!later.is_in_the_way);
}

BOOST_AUTO_TEST_CASE(functions_of_one_worker_are_called_one_after_another) {
  auto chain = spec("f = lambda b: {\"y\": b[\"x\"] + 1}");
  chain.calls.push_back(spec("f = lambda r: {\"z\": r[\"y\"] * 10}", "map").calls.front());
  chain.calls.push_back(spec("f = lambda r: r[\"z\"] != 20", "filter").calls.front());
  BOOST_TEST(values_of(run(*open(chain), numbers(0, 3)).ValueOrDie(), "z") == std::vector<std::int64_t>({10, 30}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
