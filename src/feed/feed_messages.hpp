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

inline constexpr int protocol_version = 4;

/// The first message of every connection. What the first client of a data process gives holds for
/// all.
struct Hello {
  static constexpr std::string_view is = "Hello";
  static constexpr wire::FrameBounds bounds = wire::user_values;
  int protocol = protocol_version;
  std::int64_t budget = 0;  ///< Bytes; 0: a quarter of the memory that the process may use.
  int threads = 0;          ///< 0: one for each CPU that the process may use.
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

/// Whether function workers of other nodes work on a plan: beside those of this machine, or first,
/// so that those of this machine do only what is left.
enum class OtherNodes { never, beside, first };
BOOST_DESCRIBE_ENUM(OtherNodes, never, beside, first)

/// Makes the connection a stream. The raw part has the plan's blobs, one after another.
struct Open {
  static constexpr std::string_view is = "Open";
  static constexpr wire::FrameBounds bounds = wire::user_bytes;
  Json plan;
  Consumption consumption;
  std::vector<std::uint64_t> blob_sizes;
  std::int64_t errored_max = 0;  ///< Units that may fail and are left out; -1: all.
  OtherNodes other_nodes = OtherNodes::never;
};
BOOST_DESCRIBE_STRUCT(Open, (), (plan, consumption, blob_sizes, errored_max, other_nodes))

/// A question about a plan: "schema", "check", "count", "files", "explain" or "size".
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

/// Slots have come back: those that `TakingEnd` has noted, and these, for which it had no room.
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

/// From now on function workers of other nodes may come in at this address of this machine, to
/// work on the plan → an Answer with `port`, `token`, `workers` and `cpus`: how many are wanted
/// (null: any number), and what each uses. None are wanted where the machine has cores for all
/// workers of the plan.
struct Invite {
  static constexpr std::string_view is = "Invite";
  static constexpr wire::FrameBounds bounds = wire::user_values;
  std::string host;
  bool first = false;  ///< As OtherNodes says it.
  Json plan;
  std::uint64_t blobs = 0;  ///< How many the plan has, which are not sent along.
};
BOOST_DESCRIBE_STRUCT(Invite, (), (host, first, plan, blobs))

/// To a NamesWanted: a name for each file.
struct Names {
  static constexpr std::string_view is = "Names";
  static constexpr wire::FrameBounds bounds = wire::user_values;
  std::vector<std::string> names;
};
BOOST_DESCRIBE_STRUCT(Names, (), (names))

using ToServer = std::variant<Hello, Open, Ask, Run, Release, Look, Invite, Names>;

/// The stream has begun. Descriptors: the memory that its rings and slots lie in, what is rung when
/// a batch was dealt for which the client waits, and the ring of large rows where there is one.
struct Opened {
  static constexpr std::string_view is = "Opened";
  static constexpr wire::FrameBounds bounds{16 << 20, 0, 3};
  Json cursor;                   ///< At the stream's start. Some numbers change with each batch.
  std::uint64_t rings_size = 0;  ///< Bytes of the rings, with which the memory begins.
};
BOOST_DESCRIBE_STRUCT(Opened, (), (cursor, rings_size))

struct LayoutColumn {
  std::string name;
  std::string type;                 ///< As Arrow prints it; of a tensor that of its elements.
  std::vector<std::int64_t> shape;  ///< Of a fixed-shape tensor.
};
BOOST_DESCRIBE_STRUCT(LayoutColumn, (), (name, type, shape))

/// What the columns of batches are. Sent before the first batch that has this id. A stream has
/// another layout from where a function's outputs got wider types. Raw part: the schema as Arrow's
/// IPC serializes it.
struct Layout {
  static constexpr std::string_view is = "Layout";
  static constexpr wire::FrameBounds bounds = wire::user_bytes;
  std::uint32_t id = 0;
  std::vector<LayoutColumn> columns;
};
BOOST_DESCRIBE_STRUCT(Layout, (), (id, columns))

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

/// A write wants names for its files, where the client gives them → Names.
struct NamesWanted {
  static constexpr std::string_view is = "NamesWanted";
  std::uint64_t first = 0;  ///< The number of the first of the files, from 0 on.
  std::uint64_t count = 0;
};
BOOST_DESCRIBE_STRUCT(NamesWanted, (), (first, count))

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

using FromServer = std::variant<Opened, Layout, End, Answer, Progress, NamesWanted, Failed>;

}  // namespace headway::feed
