#include "flow/functions/function_link.hpp"

#include "flow/slot_batch.hpp"
#include "wire/blocking_channel.hpp"

#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

namespace headway::flow {
namespace {

/// From so many bytes on an input is not kept for the case that its worker dies.
constexpr std::int64_t large_input = 32 << 20;

/// The detail of a Status: a worker has ended in the middle of a unit, or before it had read it.
class WorkerDied : public arrow::StatusDetail {
 public:
  explicit WorkerDied(bool had_begun) : had_begun(had_begun) {}
  const char* type_id() const override { return "headway::WorkerDied"; }
  std::string ToString() const override { return "a function worker has ended"; }
  const bool had_begun;
};

arrow::Status died(bool had_begun = true) {
  return {arrow::StatusCode::IOError, "a function worker has ended", std::make_shared<WorkerDied>(had_begun)};
}

/// Waits for an answer, or the end. False: the peer has ended, and has not read all that it was
/// sent.
bool is_read_by_peer(int socket) {
  char byte = 0;
  while (true) {
    if (recv(socket, &byte, 1, MSG_PEEK) >= 0) return true;
    if (errno != EINTR) return errno != ECONNRESET;
  }
}

/// splitmix64: neighbouring units get unrelated seeds.
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}

std::uint64_t seed_of(const FunctionWork& work) {
  const std::uint64_t of_epoch = mixed(work.seed) ^ static_cast<std::uint64_t>(work.epoch);
  return mixed(mixed(of_epoch) ^ static_cast<std::uint64_t>(work.unit));
}

std::string shown_place(const FunctionFailed& failed, const FunctionWork& work) {
  if (failed.while_making) return "while it was made";
  if (failed.end <= failed.begin) return work.where;
  const std::int64_t begin = work.first_row + failed.begin;
  const std::int64_t last = work.first_row + failed.end - 1;
  const std::string rows =
      begin == last ? "row " + std::to_string(begin) : "rows " + std::to_string(begin) + " to " + std::to_string(last);
  return work.where.empty() ? rows + " of a piece" : work.where + ", " + rows + " of it";
}

}  // namespace

FunctionLink::FunctionLink(std::shared_ptr<FunctionHost> host, StartedWorker worker, const FunctionSpec& spec,
                           bool plain)
    : host_(std::move(host)),
      worker_(std::move(worker)),
      name_(spec.name),
      input_(spec.input, plain, host_->budget()),
      outputs_(host_->budget()) {}

arrow::Result<std::unique_ptr<FunctionLink>> FunctionLink::start(std::shared_ptr<FunctionHost> host,
                                                                 const FunctionSpec& spec) {
  GpuShares::Share gpus = host->gpus().take(spec.num_gpus);
  ARROW_ASSIGN_OR_RAISE(StartedWorker worker, host->start_worker(spec.name, {}, gpus.visible()));
  auto link = with(std::move(host), std::move(worker), spec);
  link->gpus_ = std::move(gpus);
  return link;
}

std::unique_ptr<FunctionLink> FunctionLink::start_elsewhere(std::shared_ptr<FunctionHost> host, wire::Fd socket,
                                                            const FunctionSpec& spec) {
  return with(std::move(host), {elsewhere, std::move(socket)}, spec);
}

std::unique_ptr<FunctionLink> FunctionLink::with(std::shared_ptr<FunctionHost> host, StartedWorker worker,
                                                 const FunctionSpec& spec) {
  FunctionSetup setup;
  std::string pickles;
  for (const FunctionCall& call : spec.calls) {
    const Json size = call.batch_size ? Json(*call.batch_size) : Json(nullptr);
    setup.calls.push_back({call.kind, size, call.batch_format, call.keys, call.pickled.size()});
    pickles += call.pickled;
  }
  const bool plain = spec.input && spec.calls.front().batch_format == "numpy" && is_plain(*spec.input);
  if (plain) setup.layout = layout_of(*spec.input, 0).columns;
  std::unique_ptr<FunctionLink> link(new FunctionLink(std::move(host), std::move(worker), spec, plain));
  const auto sent = wire::send_frame(link->worker_.link.get(),
                                     wire::to_frame(setup, std::make_shared<const std::string>(std::move(pickles))));
  // A worker that has ended already is noticed by the first unit.
  static_cast<void>(sent.has_value());
  return link;
}

FunctionLink::~FunctionLink() {
  end();
  if (!is_elsewhere()) host_->kill_worker(worker_.id);
}

bool FunctionLink::has_ended() const {
  pollfd link{worker_.link.get(), POLLRDHUP, 0};
  return poll(&link, 1, 0) > 0;
}

std::string FunctionLink::end_in_words() const {
  return is_elsewhere() ? "of another node has ended" : host_->end_of(worker_.id);
}

void FunctionLink::end() { shutdown(worker_.link.get(), SHUT_RDWR); }

bool FunctionLink::is_death(const arrow::Status& status) {
  return status.detail() && std::string_view(status.detail()->type_id()) == "headway::WorkerDied";
}

bool FunctionLink::has_lost_unit(const arrow::Status& status) const {
  if (!is_death(status) || static_cast<const WorkerDied&>(*status.detail()).had_begun) return false;
  return has_worked_ || ended_before_ || is_elsewhere() || host_->has_ended_with(worker_.id);
}

arrow::Status FunctionLink::process(const FunctionWork& work, const std::shared_ptr<arrow::RecordBatch>& input,
                                    const FunctionSink& sink) {
  ended_before_ = !has_worked_ && has_ended();
  if (ended_before_) return died(false);
  ARROW_RETURN_NOT_OK(send_unit(work, input));
  if (work.let_go_input && !is_elsewhere() && input_.size() >= large_input) {
    work.let_go_input();
    arrow::default_memory_pool()->ReleaseUnused();  // The allocator would keep the pages.
  }
  arrow::Status done = take_outputs(work, sink);
  slot_bytes_.store(input_.size() + outputs_.size(), std::memory_order_relaxed);
  return done;
}

arrow::Status FunctionLink::send_unit(const FunctionWork& work, const std::shared_ptr<arrow::RecordBatch>& input) {
  UnitOrder order;
  order.seed = seed_of(work);
  order.unit = work.unit;
  order.form = "none";
  order.free = outputs_.freed();
  std::vector<wire::Fd> fds;
  if (input) ARROW_RETURN_NOT_OK(input_.write(input, order, fds));
  wire::Frame frame = wire::to_frame(order);
  frame.fds = std::move(fds);
  return wire::send_frame(worker_.link.get(), frame) ? arrow::Status::OK() : died(false);
}

arrow::Status FunctionLink::take_outputs(const FunctionWork& work, const FunctionSink& sink) {
  if (!is_read_by_peer(worker_.link.get())) return died(false);
  has_worked_ = true;
  arrow::Status wanted = arrow::Status::OK();
  while (true) {
    auto frame = wire::receive_frame(worker_.link.get(), wire::messages_of<FromFunctionWorker>);
    if (!frame || !*frame) return died();
    const auto message = wire::from_frame<FromFunctionWorker>(**frame);
    if (!message) return arrow::Status::Invalid("a function worker: ", message.error().message);
    if (const auto* done = std::get_if<FunctionDone>(&*message)) {
      outputs_.forget(done->gone);
      if (done->keeps_input) input_.let_go();
      input_.trim();
      return wanted;
    }
    if (const auto* failed = std::get_if<FunctionFailed>(&*message)) {
      return failure_of(*failed, (*frame)->blob ? *(*frame)->blob : std::string(), work);
    }
    auto batches = outputs_.read(std::get<FunctionOutput>(*message), (*frame)->fds);
    if (!batches.ok() && wanted.ok()) wanted = batches.status();
    // Beside what the next stage works on the worker makes more, unless memory is full.
    const Budget* const budget = host_->budget();
    const bool is_full = budget != nullptr && budget->is_full_for(std::get<FunctionOutput>(*message).memory);
    if (!is_full && !go_on(wanted.ok())) return died();
    for (std::size_t i = 0; wanted.ok() && i < batches->size(); ++i) wanted = sink(std::move((*batches)[i]));
    if (!is_full) continue;
    batches = std::vector<std::shared_ptr<arrow::RecordBatch>>();
    if (!go_on(wanted.ok())) return died();
  }
}

/// False: the worker has ended.
bool FunctionLink::go_on(bool is_wanted) {
  const FunctionContinue answer{outputs_.freed(), !is_wanted};
  return wire::send_frame(worker_.link.get(), wire::to_frame(answer)).has_value();
}

arrow::Status FunctionLink::failure_of(const FunctionFailed& failed, std::string pickled,
                                       const FunctionWork& work) const {
  auto failure = std::make_shared<UserFailure>();
  failure->type = failed.type;
  failure->where = shown_place(failed, work);
  failure->traceback = failed.traceback;
  failure->pickled = std::move(pickled);
  failure->message = name_ + (failure->where.empty() ? "" : ", " + failure->where) + ": " + failed.type;
  if (!failed.message.empty()) failure->message += ": " + failed.message;
  std::string message = failure->message;
  return {arrow::StatusCode::ExecutionError, std::move(message), std::move(failure)};
}

}  // namespace headway::flow
