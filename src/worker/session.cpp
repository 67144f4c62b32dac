#include "worker/session.hpp"

#include "core/location.hpp"
#include "wire/blocking_channel.hpp"
#include "wire/fork_guard.hpp"
#include "wire/process_title.hpp"
#include "worker/handed_over.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <cstdio>
#include <sys/socket.h>
#include <unistd.h>

namespace headway::worker {

Session::Session(wire::Fd fd, DriverGone gone) : fd_(std::move(fd)), pid_(getpid()), gone_(gone) {
  wire::drop_in_children(fd_.get());
}

namespace {

Time steady_now() { return Time(std::chrono::steady_clock::now().time_since_epoch()); }

/// What `ps` shows for a worker of this role: the command line, and the name (of at most 15
/// characters).
struct Title {
  std::string title;
  std::string name;
};

Title title_of(const wire::StartSession& start, const wire::WorkerRole& role) {
  const std::string of_run = " of run " + start.run_name;
  if (const auto* validation = std::get_if<wire::ValidationRole>(&role)) {
    return {"headway: validation of " + name_of(validation->checkpoint) + of_run, "headway valid."};
  }
  if (std::holds_alternative<wire::ArtifactRole>(role))
    return {"headway: copier of artifacts" + of_run, "headway copier"};
  if (std::holds_alternative<wire::FunctionRole>(role)) return {"headway: function worker" + of_run, "headway func."};
  constexpr std::size_t name_max = 15;
  const std::string rank = "rank " + std::to_string(start.plan.rank);
  const std::string name = "headway " + rank;
  return {"headway: " + rank + of_run, name.size() <= name_max ? name : rank};
}

}  // namespace

Result<std::unique_ptr<Session>> Session::open(int fd, DriverGone gone) {
  auto session = std::unique_ptr<Session>(new Session(wire::Fd(fd), gone));
  Result<std::optional<wire::Frame>> frame = wire::receive_frame(fd, wire::messages_of<wire::ToWorker>);
  if (!frame) return frame.error();
  if (!*frame) return Error{ErrorKind::unknown_outcome, "the driver is gone"};
  Result<wire::ToWorker> first = wire::from_frame<wire::ToWorker>(**frame);
  if (!first) return first.error();
  auto* start = std::get_if<wire::StartSession>(&*first);
  if (start == nullptr) return Error{ErrorKind::corrupted, "a session that does not begin with StartSession"};
  Result<wire::WorkerRole> role = wire::to_role(start->role);
  if (!role) return role.error();
  session->context_ = std::move(*start);
  session->role_ = std::move(*role);
  if (gone == DriverGone::end_process) {
    const Title title = title_of(session->context_, session->role_);
    wire::set_process_title(title.title.c_str(), title.name.c_str());
  }
  int world_size = 1;
  if (const auto* rank = std::get_if<wire::RankRole>(&session->role_)) {
    session->checkpoint_ = rank->checkpoint;
    world_size = rank->world_size;
  }
  session->steps_ = std::make_unique<StepClock>(session->context_.plan.rank, world_size);
  if (const auto* carries = std::get_if<wire::ArtifactRole>(&session->role_)) {
    session->carrier_ = std::make_unique<ArtifactCarrier>(session->context_, *carries);
    if (Result<void> started = session->start_uploads(); !started) return started.error();
  }
  const auto listen = [raw = session.get()] { raw->listen(); };
  if (Result<void> started = session->listener_.start("headway-session", listen); !started) return started.error();
  return session;
}

Session::~Session() {
  if (!in_child()) {
    close();
    return;
  }
  // The pool's threads are not in this process.
  (void)uploads_.release();               // NOLINT(bugprone-unused-return-value): left on purpose.
  wire::keep_in_children(fd_.release());  // Closed by the fork.
}

void Session::close() {
  if (!fd_.is_open() || in_child()) return;
  closing_ = true;
  (void)::shutdown(fd_.get(), SHUT_RDWR);
  listener_.join();
  finish_uploads();
  collectives_teller_.join();
  stacks_teller_.join();
  wire::keep_in_children(fd_.get());
  fd_.close();
}

bool Session::in_child() const { return getpid() != pid_; }

void Session::listen() {
  std::optional<Error> error;
  while (!error) {
    Result<std::optional<wire::Frame>> frame = wire::receive_frame(fd_.get(), wire::messages_of<wire::ToWorker>);
    if (frame && !*frame) break;
    Result<wire::ToWorker> message = frame ? wire::from_frame<wire::ToWorker>(**frame) : frame.error();
    if (message) {
      take(std::move(*message), (*frame)->blob);
    } else {
      error = message.error();
    }
  }
  if (error && error->kind != ErrorKind::unknown_outcome)
    std::fprintf(stderr, "headway: the driver sent what cannot be read: %s\n", error->message.c_str());
  if (gone_ == DriverGone::end_process && !closing_) _exit(1);
  const std::lock_guard lock(mutex_);
  end();
}

/// With the mutex held.
void Session::end() {
  over_ = true;
  tasks_.push_back({Task::Kind::end, 0, nullptr});
  changed_.notify_all();
}

bool Session::over() const {
  const std::lock_guard lock(mutex_);
  return over_;
}

void Session::take(wire::ToWorker message, wire::Blob blob) {
  const std::lock_guard lock(mutex_);
  if (const auto* execute = std::get_if<wire::Execute>(&message)) {
    tasks_.push_back({Task::Kind::execute, execute->call_id, std::move(blob)});
  } else if (std::holds_alternative<wire::Train>(message)) {
    tasks_.push_back({Task::Kind::train, 0, std::move(blob)});
  } else if (std::holds_alternative<wire::EndSession>(message)) {
    tasks_.push_back({Task::Kind::end, 0, nullptr});
  } else if (auto* upload = std::get_if<wire::Upload>(&message)) {
    if (const auto request = meanwhile_.find(upload->index); request != meanwhile_.end()) {
      // The training thread goes on meanwhile.
      boost::asio::post(*uploads_,
                        [this, order = *upload, request = request->second] { this->upload(order, request); });
    } else {
      upload_order_ = std::move(*upload);
    }
  } else if (const auto* bring = std::get_if<wire::BringArtifacts>(&message)) {
    bringing_ = std::stop_source();
    carry([this, number = bring->number, stop = bringing_.get_token()] {
      (void)send(wire::ArtifactsBrought{number, carrier_->bring(stop)});
    });
  } else if (std::holds_alternative<wire::StopBringing>(message)) {
    bringing_.request_stop();
  } else if (std::holds_alternative<wire::RemoveWorkingDirectory>(message)) {
    carry([this] { carrier_->remove_directory(); });
  } else if (auto* told = std::get_if<wire::CheckpointsTold>(&message)) {
    told_[told->question] = std::move(told->checkpoints);
  } else if (const auto* question = std::get_if<wire::TellCollectives>(&message)) {
    answer_collectives(question->look);
  } else if (std::holds_alternative<wire::LeaveReport>(message)) {
    over_ = true;
  } else if (const auto* examination = std::get_if<wire::TellStacks>(&message)) {
    answer_stacks(examination->examination);
  } else if (std::holds_alternative<wire::CollectiveDone>(message)) {
    gathered_ = std::move(blob);
  } else if (auto* stored = std::get_if<wire::CheckpointStored>(&message)) {
    take_stored(*stored);
  } else if (auto* answer = std::get_if<wire::ReportAnswered>(&message)) {
    if (answer->checkpoint) checkpoint_ = answer->checkpoint;
    answer_ = std::move(*answer);
  }
  changed_.notify_all();
}

/// With the mutex held.
void Session::carry(std::function<void()> work) {
  if (!carrier_) return;  // Such messages are for that role alone.
  boost::asio::post(*uploads_, std::move(work));
}

void Session::tell_collectives_by(std::function<std::string()> tell) {
  const std::lock_guard lock(mutex_);
  tell_collectives_ = std::move(tell);
}

void Session::tell_stacks_by(std::function<std::string()> tell) {
  const std::lock_guard lock(mutex_);
  tell_stacks_ = std::move(tell);
}

/// With the mutex held.
void Session::answer_collectives(std::int64_t look) {
  if (!tell_collectives_) return;
  collectives_teller_.answer([this, look, tell = tell_collectives_] {
    const auto positions = from_json_text<std::vector<GroupPosition>>(tell(), "collectives");
    if (positions) (void)send(wire::CollectivesTold{look, *positions});
  });
}

/// With the mutex held.
void Session::answer_stacks(std::int64_t examination) {
  if (!tell_stacks_) return;
  stacks_teller_.answer(
      [this, examination, tell = tell_stacks_] { (void)send(wire::StacksTold{examination, tell()}); });
}

template <class M>
Result<void> Session::send(const M& message, wire::Blob blob, std::vector<wire::Fd> fds) {
  if (in_child()) return {};
  wire::Frame frame = wire::to_frame(message, std::move(blob));
  frame.fds = std::move(fds);
  if (auto fits = wire::check_frame(frame); !fits) {
    return Error{ErrorKind::invalid_argument, fits.error().message};
  }
  const std::lock_guard lock(send_mutex_);
  const Result<void> sent = wire::send_frame(fd_.get(), frame);
  if (sent) return {};
  if (gone_ == DriverGone::end_session) return Error{ErrorKind::aborted, "the run has ended"};
  // The driver is gone, or the training function has closed the socket: nothing that is done here
  // reaches anybody any more.
  std::fprintf(stderr, "headway: this worker has lost its connection to the driver (%s) and ends\n",
               sent.error().message.c_str());
  std::fflush(nullptr);
  _exit(1);
}

std::optional<std::string> Session::checkpoint() const {
  const std::lock_guard lock(mutex_);
  return checkpoint_;
}

void Session::announce() { (void)send(wire::SessionReady{getpid()}); }

Task Session::next_task() {
  if (in_child()) return {};
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !tasks_.empty(); });
  Task task = std::move(tasks_.front());
  tasks_.pop_front();
  return task;
}

void Session::answer_call(std::int64_t call_id, const std::optional<RankError>& error, wire::Blob value) {
  const Result<void> sent = send(wire::Executed{call_id, error}, std::move(value));
  if (!sent)
    (void)send(wire::Executed{call_id, RankError{to_string(sent.error().kind), sent.error().message, "", false}});
}

bool Session::stepped(std::int64_t optimizer) { return steps_->stepped(optimizer, steady_now()); }

void Session::send_progress() {
  if (in_child()) return;
  if (const auto progress = steps_->take(steady_now())) (void)send(wire::Progressed{*progress});
}

void Session::send_data_progress(const DataProgress& progress) {
  if (!in_child()) (void)send(wire::DataProgressed{progress});
}

void Session::training_returned(wire::Blob value) {
  send_progress();
  function_over_ = true;
  const Result<void> sent = send(wire::TrainingReturned{}, std::move(value));
  if (!sent)
    training_raised({to_string(sent.error().kind), "the return value: " + sent.error().message, "", false}, nullptr);
}

void Session::training_raised(const RankError& error, wire::Blob exception) {
  send_progress();
  function_over_ = true;
  if (!send(wire::TrainingRaised{error}, std::move(exception))) (void)send(wire::TrainingRaised{error});
}

Result<int> Session::open_runtime() {
  int ends[2];
  if (in_child() || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{ErrorKind::unavailable, "no runtime can be had in this process"};
  }
  wire::Fd ours(ends[0]);
  std::vector<wire::Fd> theirs;
  theirs.emplace_back(ends[1]);
  if (const auto sent = send(wire::OpenRuntime{}, nullptr, std::move(theirs)); !sent) return sent.error();
  return ours.release();
}

void Session::validated(const JsonObject& metrics) {
  if (const auto sent = send(wire::Validated{metrics}); !sent) {
    training_raised({to_string(sent.error().kind), "the metrics: " + sent.error().message, "", false}, nullptr);
  }
}

Result<std::vector<wire::ToldCheckpoint>> Session::ask_checkpoints(bool validated, std::optional<double> timeout_s) {
  if (in_child() || function_over_) {
    return Error{
        ErrorKind::invalid_argument,
        "get_all_reported_checkpoints() was called in a child process of a rank, or after the training function "
        "had returned; it works in the training function"};
  }
  std::unique_lock lock(mutex_);
  const std::int64_t question = questions_++;
  lock.unlock();
  if (auto sent = send(wire::AskCheckpoints{question, report_index_, validated, timeout_s}); !sent) return sent.error();
  lock.lock();
  changed_.wait(lock, [&] { return told_.contains(question) || over_; });
  if (!told_.contains(question)) return Error{ErrorKind::aborted, "the run has ended"};
  return std::move(told_.extract(question).mapped());
}

void Session::upload(const wire::Upload& order, const ReportRequest& request) { (void)send(store(order, request)); }

Result<std::optional<std::string>> Session::report(ReportRequest request) {
  if (in_child()) {
    return Error{ErrorKind::internal,
                 "report() was called in a child process of a rank; only the rank's own process can report"};
  }
  if (function_over_) {
    return Error{ErrorKind::invalid_argument,
                 "report() was called after the training function had returned (by a thread that it left behind?)"};
  }
  if (request.source == CheckpointSource::placed) request.move = false;  // It is the checkpoint.
  if (request.move && request.checkpoint_directory) {
    request.move = may_be_handed_over(*request.checkpoint_directory, context_.run_directory);
  }
  wire::Reported reported;
  reported.metrics = request.metrics;
  reported.validation = request.validation;
  reported.reduce = request.reduce;
  reported.data = data_to_report();
  if (request.checkpoint_directory) {
    Result<CheckpointOffer> files = offer(request);
    if (!files) return files.error();
    reported.checkpoint = std::move(*files);
  }
  if (request.checkpoint_directory && request.asynchronous) {
    if (Result<void> started = start_uploads(); !started) return started.error();
  }
  if (reporting_.exchange(true)) {
    return Error{ErrorKind::invalid_argument,
                 "report() was called by two threads of one rank at once; it is a barrier of all ranks, "
                 "so one call must return before the next"};
  }
  reported.index = report_index_++;
  if (request.checkpoint_directory && request.asynchronous) {
    const std::lock_guard lock(mutex_);
    meanwhile_.emplace(reported.index, request);
  }
  if (Result<void> sent = send(reported); !sent) {
    --report_index_;
    reporting_ = false;
    const std::lock_guard lock(mutex_);
    meanwhile_.erase(reported.index);
    if (sent.error().kind == ErrorKind::aborted) {
      over_ = true;  // The listener is about to find it out.
      return sent.error();
    }
    return Error{ErrorKind::invalid_argument, "the report cannot be sent: " + sent.error().message};
  }
  const Time sent_at = steady_now();
  const std::optional<wire::ReportAnswered> answered = await_answer(request);
  steps_->waited(steady_now() - sent_at);
  if (!answered) return Error{ErrorKind::aborted, "the run has ended"};
  const wire::ReportAnswered& answer = *answered;
  if (answer.error) return Error{ErrorKind::unavailable, *answer.error};
  return answer.checkpoint;
}

/// None when the session has ended.
std::optional<wire::ReportAnswered> Session::await_answer(const ReportRequest& request) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return upload_order_ || answer_ || over_; });
    if (!upload_order_ && !answer_) return std::nullopt;
    if (!upload_order_) break;
    const wire::Upload order = *std::exchange(upload_order_, std::nullopt);
    lock.unlock();
    upload(order, request);
    lock.lock();
  }
  wire::ReportAnswered answer = *std::exchange(answer_, std::nullopt);
  // With a checkpoint in the answer it was synchronous for all, because it was for one of them.
  const bool failed = answer.error || answer.dropped;
  const bool stored = !failed && (!request.asynchronous || answer.checkpoint);
  if (failed || stored) meanwhile_.erase(answer.index);
  lock.unlock();
  reporting_ = false;
  if (stored) remove_handed_over(request);
  return answer;
}

// For session_collective.cpp and session_data.cpp.
template Result<void> Session::send(const wire::Arrived& message, wire::Blob blob, std::vector<wire::Fd> fds);
template Result<void> Session::send(const wire::FunctionWorkersWanted& message, wire::Blob blob,
                                    std::vector<wire::Fd> fds);

}  // namespace headway::worker
