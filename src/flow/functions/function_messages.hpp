#pragma once

#include "core/json.hpp"
#include "feed/feed_messages.hpp"
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
};
BOOST_DESCRIBE_STRUCT(StartWorker, (), (worker, folder))

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

struct SetupCall {
  std::string kind;
  Json batch_size;  ///< null: a unit is one batch.
  std::string batch_format;
  std::vector<std::string> keys;
  std::uint64_t bytes = 0;  ///< Of its pickle.
};
BOOST_DESCRIBE_STRUCT(SetupCall, (), (kind, batch_size, batch_format, keys, bytes))

/// The first message to a function worker. Raw part: the pickled functions, one after another.
struct FunctionSetup {
  static constexpr std::string_view is = "Setup";
  static constexpr wire::FrameBounds bounds = wire::user_bytes;
  std::vector<SetupCall> calls;
  std::vector<feed::LayoutColumn> layout;  ///< Of units in the form "slot".
};
BOOST_DESCRIBE_STRUCT(FunctionSetup, (), (calls, layout))

/// A unit. Descriptor: the memory that it lies in, if it is another than before.
struct UnitOrder {
  static constexpr std::string_view is = "Work";
  static constexpr wire::FrameBounds bounds{16 << 20, 0, 1};
  std::uint64_t seed = 0;
  std::int64_t unit = 0;
  std::string form;         ///< "slot", "ipc"; "none" for a source.
  std::int64_t bytes = 0;   ///< Of the unit.
  std::int64_t memory = 0;  ///< Size of the memory.
  std::int64_t rows = 0;
  std::vector<std::int64_t> free;  ///< FunctionOutput slots that nobody uses any more.
};
BOOST_DESCRIBE_STRUCT(UnitOrder, (), (seed, unit, form, bytes, memory, rows, free))

/// The last output has come; another may be sent.
struct FunctionContinue {
  static constexpr std::string_view is = "Continue";
  static constexpr wire::FrameBounds bounds{16 << 20, 0, 0};
  std::vector<std::int64_t> free;
  bool stop = false;  ///< No more outputs of this unit are wanted.
};
BOOST_DESCRIBE_STRUCT(FunctionContinue, (), (free, stop))

struct OutputPiece {
  std::int64_t offset = 0;
  std::int64_t size = 0;
  std::string form;          ///< "slot": as feed/slot.hpp describes; "ipc": a stream of one batch.
  std::uint32_t layout = 0;  ///< Of the form "slot".
};
BOOST_DESCRIBE_STRUCT(OutputPiece, (), (offset, size, form, layout))

struct OutputLayout {
  std::uint32_t id = 0;
  std::vector<feed::LayoutColumn> columns;
};
BOOST_DESCRIBE_STRUCT(OutputLayout, (), (id, columns))

/// A slot with outputs. Descriptor: its memory, the first time.
struct FunctionOutput {
  static constexpr std::string_view is = "Output";
  static constexpr wire::FrameBounds bounds{64 << 20, 0, 1};
  std::int64_t slot = 0;
  std::int64_t memory = 0;  ///< Its size.
  std::vector<OutputPiece> pieces;
  std::vector<OutputLayout> layouts;  ///< That were not sent before.
  std::vector<std::int64_t> gone;     ///< Slots that are no more.
};
BOOST_DESCRIBE_STRUCT(FunctionOutput, (), (slot, memory, pieces, layouts, gone))

struct FunctionDone {
  static constexpr std::string_view is = "UnitDone";
  static constexpr wire::FrameBounds bounds{16 << 20, 0, 0};
  bool keeps_input = false;  ///< The function holds views of the input's memory.
  std::vector<std::int64_t> gone;
};
BOOST_DESCRIBE_STRUCT(FunctionDone, (), (keeps_input, gone))

/// Raw part: the pickled exception, where it can be pickled.
struct FunctionFailed {
  static constexpr std::string_view is = "FunctionFailed";
  static constexpr wire::FrameBounds bounds = wire::user_bytes;
  std::string type;
  std::string message;
  std::string traceback;
  std::int64_t begin = 0;  ///< The rows of the unit that it was called on.
  std::int64_t end = 0;
  bool while_making = false;  ///< The function could not be unpickled, or its object not be made.
};
BOOST_DESCRIBE_STRUCT(FunctionFailed, (), (type, message, traceback, begin, end, while_making))

using FromFunctionWorker = std::variant<FunctionOutput, FunctionDone, FunctionFailed>;

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
};
BOOST_DESCRIBE_STRUCT(WholeSetup, (), (arguments, schema_bytes, memory_bytes, folder, threads, batch_rows))

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

using FromWholeWorker =
    std::variant<WholeSchema, WholePull, FunctionOutput, WholeSpilled, FunctionDone, FunctionFailed>;

}  // namespace headway::flow
