#pragma once

#include "core/json.hpp"
#include "feed/feed_messages.hpp"
#include "wire/frame_bounds.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// What the data process and a function worker say to each other about units. The workers' end is
/// in python/headway/_worker/functions/. To a worker of another node, FunctionRelay carries it.
namespace headway::feed {

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
  std::vector<LayoutColumn> layout;  ///< Of units in the form "slot".
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

using ToFunctionWorker = std::variant<FunctionSetup, UnitOrder, FunctionContinue>;

struct OutputPiece {
  std::int64_t offset = 0;
  std::int64_t size = 0;
  std::string form;          ///< "slot": as feed/slot.hpp describes; "ipc": a stream of one batch.
  std::uint32_t layout = 0;  ///< Of the form "slot".
};
BOOST_DESCRIBE_STRUCT(OutputPiece, (), (offset, size, form, layout))

struct OutputLayout {
  std::uint32_t id = 0;
  std::vector<LayoutColumn> columns;
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

}  // namespace headway::feed
