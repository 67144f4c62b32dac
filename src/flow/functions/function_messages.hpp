#pragma once

#include "core/json.hpp"
#include "feed/function_messages.hpp"
#include "wire/frame_bounds.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// What the data process says to the function host and to function workers, and they to it. Their
/// ends are in python/headway/_worker/functions/.
namespace headway::flow {

/// Import what functions need. Raw part: a pickle; the modules that it names are imported too.
struct PrepareFunctions {
  static constexpr std::string_view is = "Prepare";
  static constexpr wire::FrameBounds bounds = wire::user_bytes;
  std::vector<std::string> modules;
};
BOOST_DESCRIBE_STRUCT(PrepareFunctions, (), (modules))

/// Descriptors: the worker's end of its link, and the pipe for what it prints.
struct StartWorker {
  static constexpr std::string_view is = "StartWorker";
  static constexpr wire::FrameBounds bounds = wire::with_fds(2);
  std::int64_t worker = 0;
  std::string folder;  ///< Is removed when the worker has ended; empty: none.
  /// Its CUDA_VISIBLE_DEVICES; unset: that of the host.
  std::optional<std::string> gpus;
};
BOOST_DESCRIBE_STRUCT(StartWorker, (), (worker, folder, gpus))

struct KillWorker {
  static constexpr std::string_view is = "KillWorker";
  std::int64_t worker = 0;
};
BOOST_DESCRIBE_STRUCT(KillWorker, (), (worker))

struct FunctionWorkerEnded {
  static constexpr std::string_view is = "WorkerEnded";
  static constexpr wire::FrameBounds bounds = wire::user_values;
  std::int64_t worker = 0;
  int status = 0;       ///< As waitpid gives it.
  std::string problem;  ///< Why it could not be started; empty if it was.
};
BOOST_DESCRIBE_STRUCT(FunctionWorkerEnded, (), (worker, status, problem))

using FromFunctionHost = std::variant<FunctionWorkerEnded>;

// What is said about units, also with workers of other nodes.
using feed::FromFunctionWorker;
using feed::FunctionContinue;
using feed::FunctionDone;
using feed::FunctionFailed;
using feed::FunctionOutput;
using feed::FunctionSetup;
using feed::OutputLayout;
using feed::OutputPiece;
using feed::SetupCall;
using feed::UnitOrder;

/// The first message to a worker that does an operation on all rows. Raw part: the inputs' schemas
/// as Arrow's IPC serializes them, one after another.
struct WholeSetup {
  static constexpr std::string_view is = "WholeSetup";
  static constexpr wire::FrameBounds bounds = wire::user_bytes;
  std::string arguments;
  std::vector<std::uint64_t> schema_bytes;
  std::int64_t memory_bytes = 0;
  std::string folder;  ///< For what is spilled.
  int threads = 1;
  std::int64_t batch_rows = 0;
  bool rows_are_large = false;  ///< As `WholeSpec` has it.
};
BOOST_DESCRIBE_STRUCT(WholeSetup, (),
                      (arguments, schema_bytes, memory_bytes, folder, threads, batch_rows, rows_are_large))

/// The next rows of an input. Descriptor: the slot's memory, if it is new.
struct WholePiece {
  static constexpr std::string_view is = "Piece";
  static constexpr wire::FrameBounds bounds{1 << 20, 0, 1};
  std::int64_t slot = 0;
  std::int64_t memory = 0;  ///< Its size.
  std::int64_t bytes = 0;   ///< Of the rows, a stream of Arrow's IPC.
};
BOOST_DESCRIBE_STRUCT(WholePiece, (), (slot, memory, bytes))

/// The input has no more rows.
struct WholePieceEnd {
  static constexpr std::string_view is = "PieceEnd";
};
BOOST_DESCRIBE_STRUCT(WholePieceEnd, (), ())

/// The result's schema is known. Raw part: as Arrow's IPC serializes it.
struct WholeSchema {
  static constexpr std::string_view is = "WholeSchema";
  static constexpr wire::FrameBounds bounds = wire::user_bytes;
};
BOOST_DESCRIBE_STRUCT(WholeSchema, (), ())

/// More rows of an input are wanted. `free`: slots of it that nobody uses any more.
struct WholePull {
  static constexpr std::string_view is = "Pull";
  static constexpr wire::FrameBounds bounds{16 << 20, 0, 0};
  std::size_t input = 0;
  std::vector<std::int64_t> free;
};
BOOST_DESCRIBE_STRUCT(WholePull, (), (input, free))

/// So much lies on disk by now.
struct WholeSpilled {
  static constexpr std::string_view is = "Spilled";
  std::int64_t bytes = 0;
};
BOOST_DESCRIBE_STRUCT(WholeSpilled, (), (bytes))

/// The operation succeeds in a worker whose setup has `rows_are_large`.
struct WholeRowsAreLarge {
  static constexpr std::string_view is = "RowsAreLarge";
  std::int64_t bytes = 0;  ///< Of an average row.
};
BOOST_DESCRIBE_STRUCT(WholeRowsAreLarge, (), (bytes))

using FromWholeWorker =
    std::variant<WholeSchema, WholePull, FunctionOutput, WholeSpilled, WholeRowsAreLarge, FunctionDone, FunctionFailed>;

}  // namespace headway::flow
