#pragma once

#include "node/machine_use.hpp"
#include "node/node_agent.hpp"
#include "node/resource_ledger.hpp"
#include "wire/frame.hpp"

#include <variant>

/// What a driver and the agent of another machine say to each other, over a SecureChannel. Messages
/// from and to a worker travel in the raw part: `json_size` bytes of JSON, then its own raw part.
/// So does what need not be text in UTF-8, such as a line of output.
namespace headway::cluster {

/// The first thing an agent says.
struct Join {
  static constexpr std::string_view is = "Join";
  std::string version;  ///< Of Headway; both ends have the same.
  std::string proof;    ///< That it has the token.
  std::string hostname;
  Resources resources;
  std::vector<std::string> gpu_ids;
  Labels labels;
};
BOOST_DESCRIBE_STRUCT(Join, (), (version, proof, hostname, resources, gpu_ids, labels))

/// The driver's answer, with its own proof …
struct Welcome {
  static constexpr std::string_view is = "Welcome";
  std::string node_id;
  std::string proof;
  double lease_s = 0;
};
BOOST_DESCRIBE_STRUCT(Welcome, (), (node_id, proof, lease_s))

/// … or why not.
struct Refused {
  static constexpr std::string_view is = "Refused";
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(Refused, (), (reason))

struct WarmFactory {
  static constexpr std::string_view is = "WarmFactory";
  std::vector<std::string> preload;
};
BOOST_DESCRIBE_STRUCT(WarmFactory, (), (preload))

/// The raw part is the first thing that its session hears.
struct StartWorker {
  static constexpr std::string_view is = "StartWorker";
  static constexpr wire::FrameBounds bounds = wire::enclosed_message;
  node::WorkerLaunch launch;
  std::size_t json_size = 0;
};
BOOST_DESCRIBE_STRUCT(StartWorker, (), (launch, json_size))

struct TellWorker {
  static constexpr std::string_view is = "TellWorker";
  static constexpr wire::FrameBounds bounds = wire::enclosed_message;
  std::int64_t worker_id = 0;
  std::size_t json_size = 0;
};
BOOST_DESCRIBE_STRUCT(TellWorker, (), (worker_id, json_size))

struct SignalWorker {
  static constexpr std::string_view is = "SignalWorker";
  std::int64_t worker_id = 0;
  int signal = 0;
};
BOOST_DESCRIBE_STRUCT(SignalWorker, (), (worker_id, signal))

/// No more output until ResumeOutput.
struct PauseOutput {
  static constexpr std::string_view is = "PauseOutput";
};
BOOST_DESCRIBE_STRUCT(PauseOutput, (), ())

struct ResumeOutput {
  static constexpr std::string_view is = "ResumeOutput";
};
BOOST_DESCRIBE_STRUCT(ResumeOutput, (), ())

/// → WorkerExamined.
struct ExamineWorker {
  static constexpr std::string_view is = "ExamineWorker";
  std::int64_t worker_id = 0;
  std::int64_t number = 0;
};
BOOST_DESCRIBE_STRUCT(ExamineWorker, (), (worker_id, number))

/// The agent may go on for the lease's length, counted from when it asked.
struct GrantLease {
  static constexpr std::string_view is = "GrantLease";
  std::int64_t number = 0;
};
BOOST_DESCRIBE_STRUCT(GrantLease, (), (number))

/// What NeedPackage asked for is in the raw part; without one the driver has it no more.
struct PackageBytes {
  static constexpr std::string_view is = "PackageBytes";
  static constexpr wire::FrameBounds bounds{1 << 20, 4ull << 30, 0};
  std::string hash;
};
BOOST_DESCRIBE_STRUCT(PackageBytes, (), (hash))

/// The driver needs it no more: it ends its workers and itself.
struct Dismiss {
  static constexpr std::string_view is = "Dismiss";
};
BOOST_DESCRIBE_STRUCT(Dismiss, (), ())

using ToAgent = std::variant<Welcome, Refused, WarmFactory, StartWorker, TellWorker, SignalWorker, PauseOutput,
                             ResumeOutput, ExamineWorker, GrantLease, PackageBytes, Dismiss>;

struct WorkerTold {
  static constexpr std::string_view is = "WorkerTold";
  static constexpr wire::FrameBounds bounds = wire::enclosed_message;
  std::int64_t worker_id = 0;
  std::size_t json_size = 0;
};
BOOST_DESCRIBE_STRUCT(WorkerTold, (), (worker_id, json_size))

/// The raw part is a line of a worker's output.
struct WorkerPrinted {
  static constexpr std::string_view is = "WorkerPrinted";
  static constexpr wire::FrameBounds bounds = wire::raw_text;
  std::int64_t worker_id = 0;
};
BOOST_DESCRIBE_STRUCT(WorkerPrinted, (), (worker_id))

/// The raw part is the end of its output.
struct WorkerGone {
  static constexpr std::string_view is = "WorkerGone";
  static constexpr wire::FrameBounds bounds = wire::raw_text;
  std::int64_t worker_id = 0;
  ExitStatus status;
};
BOOST_DESCRIBE_STRUCT(WorkerGone, (), (worker_id, status))

/// A ProcessSeen; its text is beside it.
struct WorkerExamined {
  static constexpr std::string_view is = "WorkerExamined";
  static constexpr wire::FrameBounds bounds = wire::raw_text;
  std::int64_t number = 0;
  std::int64_t pid = 0;
  double cpu_s = 0;
  std::string importing;
};
BOOST_DESCRIBE_STRUCT(WorkerExamined, (), (number, pid, cpu_s, importing))

struct Noticed {
  static constexpr std::string_view is = "Noticed";
  static constexpr wire::FrameBounds bounds = wire::user_values;
  std::string text;
};
BOOST_DESCRIBE_STRUCT(Noticed, (), (text))

/// How much of its machine is in use, now and then.
struct UseTold {
  static constexpr std::string_view is = "UseTold";
  node::Use use;
};
BOOST_DESCRIBE_STRUCT(UseTold, (), (use))

/// → GrantLease, with the number.
struct AskLease {
  static constexpr std::string_view is = "AskLease";
  std::int64_t number = 0;
};
BOOST_DESCRIBE_STRUCT(AskLease, (), (number))

/// A worker that is to be started needs it → PackageBytes.
struct NeedPackage {
  static constexpr std::string_view is = "NeedPackage";
  std::string hash;
};
BOOST_DESCRIBE_STRUCT(NeedPackage, (), (hash))

/// The machine will be taken away: nothing more should be started there.
struct Preempting {
  static constexpr std::string_view is = "Preempting";
  double grace_s = 0;
};
BOOST_DESCRIBE_STRUCT(Preempting, (), (grace_s))

/// Its workers are gone, and so is it in a moment.
struct Leaving {
  static constexpr std::string_view is = "Leaving";
};
BOOST_DESCRIBE_STRUCT(Leaving, (), ())

using FromAgent = std::variant<Join, WorkerTold, WorkerPrinted, WorkerGone, WorkerExamined, Noticed, UseTold, AskLease,
                               NeedPackage, Preempting, Leaving>;

/// Whether the numbers and names of a message make sense: each comes from another machine. Errors:
/// `corrupted`, with what does not.
Result<void> check_message(const Join& message);
Result<void> check_message(const Welcome& message);
Result<void> check_message(const StartWorker& message);
Result<void> check_message(const Preempting& message);
Result<void> check_message(const UseTold& message);
template <class M>
Result<void> check_message(const M&) {
  return {};
}

/// A message with a worker's frame in its raw part. The raw bytes are shared, not copied.
template <class M>
wire::Frame enclose(M message, wire::Frame inner) {
  message.json_size = inner.json.size();
  wire::Frame frame = wire::to_frame(message, std::move(inner.blob));
  frame.inner_json = std::move(inner.json);
  return frame;
}

/// The frame in a message's raw part; `corrupted` when it is not there.
inline Result<wire::Frame> inner_frame(std::size_t json_size, const wire::Blob& blob) {
  if (!blob || blob->size() < json_size)
    return Error{ErrorKind::corrupted, "a message without a worker's message in it"};
  wire::Frame frame;
  frame.json = blob->substr(0, json_size);
  if (blob->size() > json_size) frame.blob = std::make_shared<const std::string>(blob->substr(json_size));
  return frame;
}

}  // namespace headway::cluster
