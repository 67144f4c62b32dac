#pragma once

#include "flow/functions/function_pool.hpp"

#include <arrow/api.h>

#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

/// Real function workers: the tests' functions are Python.
namespace headway::flow {

/// What Python prints for `code`, in which `headway` can be imported.
inline std::string printed_by_python(const std::string& code) {
  const std::string command = "PYTHONPATH='" HEADWAY_TEST_PYTHON_PATH "' '" HEADWAY_TEST_PYTHON "' -c '" + code + "'";
  // NOLINTNEXTLINE(bugprone-command-processor): the tests' own words.
  std::FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  char part[4096];
  while (const std::size_t count = std::fread(part, 1, sizeof(part), pipe)) text.append(part, count);
  if (pclose(pipe) != 0) throw std::runtime_error("Python has failed: " + code);
  return text;
}

/// The pickle of `f`, which `code` defines (with double quotes alone).
inline std::string pickled(const std::string& code) {
  return printed_by_python(code +
                           "\nimport inspect, sys, cloudpickle\n"
                           "call = dict(function=f, is_class=inspect.isclass(f), args=(), kwargs={}, "
                           "constructor_args=(), constructor_kwargs={})\n"
                           "sys.stdout.buffer.write(cloudpickle.dumps(call))");
}

inline std::shared_ptr<arrow::RecordBatch> batch_of(const std::string& name, std::shared_ptr<arrow::Array> column) {
  const auto schema = arrow::schema({arrow::field(name, column->type())});
  const std::int64_t rows = column->length();
  return arrow::RecordBatch::Make(schema, rows, {std::move(column)});
}

/// Column "x": from `first`, so many.
inline std::shared_ptr<arrow::RecordBatch> numbers(std::int64_t first, std::int64_t count) {
  arrow::Int64Builder builder;
  for (std::int64_t i = 0; i < count; ++i) builder.Append(first + i).ok();
  return batch_of("x", builder.Finish().ValueOrDie());
}

template <class Array = arrow::Int64Array>
auto values_of(const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches, const std::string& name) {
  std::vector<std::decay_t<decltype(std::declval<Array>().GetView(0))>> values;
  for (const auto& batch : batches) {
    const auto column = std::static_pointer_cast<Array>(batch->GetColumnByName(name));
    for (std::int64_t i = 0; i < column->length(); ++i) values.push_back(column->GetView(i));
  }
  return values;
}

struct FunctionFixture {
  FunctionFixture() {
    folder = std::filesystem::temp_directory_path() / ("headway-functions-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    host = FunctionHost::start(launch(), [this](const std::string& line) {
             const std::lock_guard lock(mutex);
             lines.push_back(line);
             printed.notify_all();
           }).ValueOrDie();
  }
  ~FunctionFixture() {
    host.reset();
    std::filesystem::remove_all(folder);
  }

  FunctionHostLaunch launch() {
    FunctionHostLaunch made;
    made.budget = &budget;
    made.environment["PYTHONPATH"] = folder.string();
    made.command = {HEADWAY_TEST_PYTHON, "-c",
                    "import sys; sys.path.insert(0, '" HEADWAY_TEST_PYTHON_PATH
                    "'); from headway._worker.functions.host import main; main()"};
    return made;
  }

  static FunctionSpec spec(const std::string& code, const std::string& kind = "map_batches") {
    FunctionSpec spec;
    spec.name = kind + "(f)";
    spec.calls.resize(1);
    spec.calls.front().kind = kind;
    spec.calls.front().pickled = pickled(code);
    spec.workers_max = 1;
    spec.input = numbers(0, 0)->schema();
    return spec;
  }

  std::shared_ptr<FunctionPool> open(FunctionSpec made) {
    return FunctionPool::open(host, std::move(made)).ValueOrDie();
  }

  static arrow::Result<std::vector<std::shared_ptr<arrow::RecordBatch>>> run(
      FunctionPool& pool, const std::shared_ptr<arrow::RecordBatch>& input, const FunctionWork& work = {}) {
    std::vector<std::shared_ptr<arrow::RecordBatch>> outputs;
    ARROW_RETURN_NOT_OK(pool.process(work, input, [&](std::shared_ptr<arrow::RecordBatch> batch) {
      outputs.push_back(std::move(batch));
      return arrow::Status::OK();
    }));
    return outputs;
  }

  std::string first_line() {
    std::unique_lock lock(mutex);
    printed.wait(lock, [&] { return !lines.empty(); });
    return lines.front();
  }

  Budget budget{std::int64_t{1} << 30};
  std::shared_ptr<FunctionHost> host;
  std::filesystem::path folder;
  std::mutex mutex;
  std::condition_variable printed;
  std::vector<std::string> lines;
};

}  // namespace headway::flow
