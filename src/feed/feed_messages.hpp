#pragma once

#include "core/json.hpp"
#include "core/stage_counters.hpp"
#include "wire/frame_bounds.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// What a client and the data process of its machine say to each other. A connection is one of two
/// things: a desk, which asks questions one after another, or a stream of batches. A stream's end
/// is the end of its connection.
namespace headway::feed {

inline constexpr int protocol_version = 1;

/// The first message of every connection. What the first client of a data process gives holds for
/// all.
struct Hello {
  static constexpr std::string_view is = "Hello";
  static constexpr wire::FrameBounds bounds = wire::user_values;
  int protocol = protocol_version;
  std::int64_t budget = 0;  ///< Bytes; 0: a quarter of the machine's memory.
  int threads = 0;          ///< 0: one a core.
  /// The command that starts the host of Python functions.
  std::vector<std::string> function_host;
  std::map<std::string, std::string> environment;  ///< Of the function host.
  std::string scratch;                             ///< A folder for what does not fit into memory.
};
BOOST_DESCRIBE_STRUCT(Hello, (), (protocol, budget, threads, function_host, environment, scratch))

/// How a client wants to receive the rows of a plan.
struct Consumption {
  std::optional<std::int64_t> batch_size;  ///< Unset: pieces as they are.
  bool drop_last = false;
  std::optional<std::int64_t> shuffle_window_rows;  ///< Local shuffle in windows of so many rows.
  std::optional<std::int64_t> seed;                 ///< Of the epoch's order; unset: one is drawn.
  std::int64_t epoch = 0;
  std::string group;   ///< The name that the clients share who divide the rows; empty: one client.
  int world_size = 1;  ///< All clients of the group, on all machines.
  int rank = 0;
  int clients_here = 0;  ///< Those of this machine; 0: all.
  /// Into how many lanes an epoch is cut that no cursor has begun: `data::lanes_for(machines)`.
  /// Each machine reads those of its clients. Plans whose rows are not known beforehand have one.
  int lanes = 1;
  bool equal = true;
  int prefetch = 1;            ///< Batches that wait for the client beside the one it has.
  std::optional<Json> cursor;  ///< Where to resume.
  std::string iterator;        ///< Whose epochs these are, where no group says it.
  bool more = false;           ///< The client will probably ask for the next epoch too.
};
BOOST_DESCRIBE_STRUCT(Consumption, (),
                      (batch_size, drop_last, shuffle_window_rows, seed, epoch, group, world_size, rank, clients_here,
                       lanes, equal, prefetch, cursor, iterator, more))

/// Makes the connection a stream. The raw part has the plan's blobs, one after another.
struct Open {
  static constexpr std::string_view is = "Open";
  static constexpr wire::FrameBounds bounds = wire::user_bytes;
  Json plan;
  Consumption consumption;
  std::vector<std::uint64_t> blob_sizes;
  std::int64_t errored_max = 0;  ///< Units that may fail and are left out; -1: all.
};
BOOST_DESCRIBE_STRUCT(Open, (), (plan, consumption, blob_sizes, errored_max))

/// A question about a plan: "schema", "count", "files", "explain" or "size".
struct Ask {
  static constexpr std::string_view is = "Ask";
  static constexpr wire::FrameBounds bounds = wire::user_bytes;
  std::string what;
  Json plan;
  std::vector<std::uint64_t> blob_sizes;
  std::int64_t errored_max = 0;  ///< As in `Open`.
};
BOOST_DESCRIBE_STRUCT(Ask, (), (what, plan, blob_sizes, errored_max))

/// Runs a plan that ends in a write or a materialization.
struct Run {
  static constexpr std::string_view is = "Run";
  static constexpr wire::FrameBounds bounds = wire::user_bytes;
  Json plan;
  std::vector<std::uint64_t> blob_sizes;
  std::int64_t errored_max = 0;  ///< As in `Open`.
};
BOOST_DESCRIBE_STRUCT(Run, (), (plan, blob_sizes, errored_max))

/// The client has begun to use so many more batches; the server may send as many.
struct Took {
  static constexpr std::string_view is = "Took";
  std::int64_t batches = 0;
};
BOOST_DESCRIBE_STRUCT(Took, (), (batches))

/// The last view of these slots has died; the server may use them again.
struct Release {
  static constexpr std::string_view is = "Release";
  std::vector<std::int64_t> slots;
};
BOOST_DESCRIBE_STRUCT(Release, (), (slots))

/// How far is what this connection has asked for? → Progress.
struct Look {
  static constexpr std::string_view is = "Look";
};
BOOST_DESCRIBE_STRUCT(Look, (), ())

using ToServer = std::variant<Hello, Open, Ask, Run, Took, Release, Look>;

/// The stream has begun. Descriptor: the memory that its slots lie in.
struct Opened {
  static constexpr std::string_view is = "Opened";
  static constexpr wire::FrameBounds bounds{16 << 20, 0, 1};
  Json cursor;  ///< At the stream's start; a batch has the numbers of it that change.
};
BOOST_DESCRIBE_STRUCT(Opened, (), (cursor))

struct LayoutColumn {
  std::string name;
  std::string type;                 ///< As Arrow prints it; of a tensor that of its elements.
  std::vector<std::int64_t> shape;  ///< Of a fixed-shape tensor.
};
BOOST_DESCRIBE_STRUCT(LayoutColumn, (), (name, type, shape))

/// What the columns of batches are. Sent before the first batch. Raw part: the schema as Arrow's
/// IPC serializes it.
struct Layout {
  static constexpr std::string_view is = "Layout";
  static constexpr wire::FrameBounds bounds = wire::user_bytes;
  std::uint32_t id = 0;
  std::vector<LayoutColumn> columns;
};
BOOST_DESCRIBE_STRUCT(Layout, (), (id, columns))

/// A batch in the stream's memory, with the cursor after it.
struct BatchInSlot {
  std::int64_t slot = 0;
  std::uint64_t offset = 0;  ///< Of the slot within the memory.
  std::uint64_t size = 0;    ///< Of the slot.
  std::int64_t rows = 0;
  std::int64_t epoch = 0;
  std::int64_t window = 0;
  std::int64_t row = 0;
  std::int64_t rows_before = 0;
  std::int64_t batches = 0;
};
BOOST_DESCRIBE_STRUCT(BatchInSlot, (), (slot, offset, size, rows, epoch, window, row, rows_before, batches))

struct Batches {
  static constexpr std::string_view is = "Batches";
  std::vector<BatchInSlot> batches;
};
BOOST_DESCRIBE_STRUCT(Batches, (), (batches))

/// All rows of the epoch were sent.
struct End {
  static constexpr std::string_view is = "End";
  static constexpr wire::FrameBounds bounds = wire::user_values;
  std::int64_t dropped = 0;  ///< Rows that no client got because shares are equal.
  FlowCounters stats;
  std::int64_t errored = 0;   ///< Units that failed and were left out.
  std::string first_failure;  ///< Of the first of them, with its file.
};
BOOST_DESCRIBE_STRUCT(End, (), (dropped, stats, errored, first_failure))

/// To an Ask or a Run.
struct Answer {
  static constexpr std::string_view is = "Answer";
  static constexpr wire::FrameBounds bounds = wire::user_bytes;
  Json value;
};
BOOST_DESCRIBE_STRUCT(Answer, (), (value))

/// To a Look.
struct Progress {
  static constexpr std::string_view is = "Progress";
  static constexpr wire::FrameBounds bounds = wire::user_values;
  FlowCounters counters;
};
BOOST_DESCRIBE_STRUCT(Progress, (), (counters))

/// The question or the stream has failed. Raw part: the pickled exception of a user's function.
struct Failed {
  static constexpr std::string_view is = "Failed";
  static constexpr wire::FrameBounds bounds = wire::user_bytes;
  std::string kind;  ///< to_string(ErrorKind).
  std::string message;
  std::string traceback;
  std::string where;  ///< File and rows.
};
BOOST_DESCRIBE_STRUCT(Failed, (), (kind, message, traceback, where))

using FromServer = std::variant<Opened, Layout, Batches, End, Answer, Progress, Failed>;

}  // namespace headway::feed
