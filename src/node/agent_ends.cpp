#include "node/agent.hpp"
#include "node/process_state.hpp"

#include <csignal>

/// How workers, factories and the agent itself come to their ends.
namespace headway::node {

namespace asio = boost::asio;

/// One more end to be awaited; what is returned counts it as come.
std::function<void()> Agent::count_down() {
  ++ending_;
  return while_alive([this] {
    if (--ending_ == 0 && closed_) finish_closing();
  });
}

/// No process is left that could still write into a temporary directory.
void Agent::finish_closing() {
  const auto done = [closed = std::exchange(closed_, nullptr)] { closed(); };
  if (!scratch_) return done();
  log_threads_.run([scratch = std::exchange(scratch_, nullptr)] { scratch->leave(); }, done);
}

/// The path of the directory of that name for one more worker; empty when there is none.
std::string Agent::take_scratch(const std::string& name) {
  if (name.empty() || host_ != nullptr) return "";
  if (!scratch_) {
    scratch_ = std::make_shared<ScratchDirectories>(staging_);
    log_threads_.run([scratch = scratch_] { scratch->prepare(); }, count_down());
  }
  ++scratch_users_[name];
  return scratch_->path(name);
}

void Agent::give_back_scratch(const std::string& name) {
  const auto users = scratch_users_.find(name);
  if (users == scratch_users_.end() || --users->second > 0) return;
  scratch_users_.erase(users);
  log_threads_.run([scratch = scratch_, name] { scratch->remove(name); }, count_down());
}

void Agent::close(std::function<void()> closed) {
  closed_ = std::move(closed);
  use_due_.cancel();
  const auto all_told = count_down();
  for (auto& [id, worker] : std::exchange(workers_, {})) {
    worker.session->close();
    for (const auto& output : worker.output) output->abandon(count_down());
  }
  lent_.clear();
  for (auto& [key, factory] : std::exchange(factories_, {})) end_factory(std::move(factory));
  examiner_.close(count_down());
  asio::post(loop_, all_told);
}

void Agent::end_factory(std::unique_ptr<WorkerSource> factory) {
  // What it was to report is of no more interest.
  factory->leave(count_down());
}

/// A worker that its factory has not started yet is not waited for: the import that the factory is
/// in may never end. The factory has its signal right behind the order. Should it start the worker
/// yet, that one finds its session closed, and does nothing.
void Agent::withdraw(std::int64_t worker_id) {
  asio::post(loop_, while_alive([this, worker_id] {
               const auto worker = workers_.find(worker_id);
               if (worker == workers_.end() || worker->second.exit) return;
               worker->second.exit = ExitStatus{true, SIGKILL, "it had not been started yet"};
               finish_worker(worker_id);
             }));
}

/// Of a worker that is to be started or killed. Its factory answers soon, unless it is stopped:
/// then nobody would hear of anything.
void Agent::expect_answer(std::int64_t worker_id) {
  Worker& worker = workers_.at(worker_id);
  if (worker.overdue || host_ != nullptr) return;  // A host's factory is the host's to watch.
  worker.overdue = std::make_shared<asio::steady_timer>(loop_, config_.answer_limit);
  worker.overdue->async_wait(while_alive([this, worker_id](const boost::system::error_code& failure) {
    if (!failure) look_for_answer(worker_id);
  }));
}

void Agent::look_for_answer(std::int64_t worker_id) {
  const auto found = workers_.find(worker_id);
  if (found == workers_.end() || found->second.exit) return;
  Worker& worker = found->second;
  worker.overdue.reset();
  if (worker.pid != 0 && !worker.killed) return;
  const auto factory = factories_.find(worker.factory_key);
  const pid_t process = factory == factories_.end() ? 0 : factory->second->process();
  const auto waited = ++worker.looks * config_.answer_limit;
  const bool ended = worker.pid != 0 && has_ended(process_state(worker.pid));
  const bool late = ended && waited >= config_.limits.end;
  if (process != 0 && (late || is_stopped(process_state(process)))) {
    give_up_factory(worker.factory_key, waited);
  } else {
    // The factory imports, the process does not end, or the factory is about to be lost.
    expect_answer(worker_id);
  }
}

/// A factory that does not answer is ended, and a new one takes its place. The ends that it has not
/// reported are read from the system; the workers that are left end with the factory, and are
/// reported when nothing of it is there any more.
void Agent::give_up_factory(const std::string& key, std::chrono::milliseconds waited) {
  auto factory = std::move(factories_.extract(key).mapped());
  const pid_t process = factory->process();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(waited).count();
  sink_.notice("the worker factory (pid " + std::to_string(process) + ") has not answered for " +
               std::to_string(seconds) + " s: it is " + process_state_text(process, process_state(process)) +
               ". It is killed, with the workers that are left");
  std::map<std::int64_t, ExitStatus> ended;
  std::vector<std::int64_t> left;
  for (const auto& [id, worker] : workers_) {
    if (worker.factory_key != key || worker.exit) continue;
    const auto status = worker.pid == 0 ? std::nullopt : unreaped_status(worker.pid);
    if (status) {
      ended[id] = *status;
    } else {
      left.push_back(id);
    }
  }
  for (const auto& [id, lent] : lent_) {
    if (lent.factory_key == key) left.push_back(id);
  }
  factory->leave([counted = count_down(), tell = while_alive([this, left] {
                                            const ExitStatus killed{true, SIGKILL,
                                                                    "its worker factory died, and it with it"};
                                            for (const std::int64_t id : left) on_ended(id, killed);
                                          })] {
    tell();
    counted();
  });
  for (const auto& [id, status] : ended) on_ended(id, status);
}

void Agent::on_ended(std::int64_t worker_id, const ExitStatus& status) {
  if (lent_.erase(worker_id) > 0) sink_.worker_exited(worker_id, status, "");
  const auto worker = workers_.find(worker_id);
  if (worker == workers_.end()) return;
  worker->second.exit = status;
  if (worker->second.session_closed) {
    finish_worker(worker_id);
    return;
  }
  await_last_words(worker_id);
}

/// Of a worker that has ended: they are still in its socket. Should a child of it hold the socket
/// open, they are taken and that is all.
void Agent::await_last_words(std::int64_t worker_id) {
  constexpr auto silence_max = std::chrono::milliseconds(200);
  Worker& worker = workers_.at(worker_id);
  worker.last_words = std::make_shared<asio::steady_timer>(loop_, silence_max);
  worker.last_words->async_wait(while_alive([this, worker_id, heard = worker.heard](const auto& failure) {
    if (failure) return;
    const auto ended = workers_.find(worker_id);
    if (ended == workers_.end()) return;
    // On a machine with much to do reading them may take longer than that.
    if (ended->second.heard != heard) return await_last_words(worker_id);
    finish_worker(worker_id);
  }));
}

void Agent::on_session_closed(std::int64_t worker_id, const std::optional<Error>& error) {
  const auto worker = workers_.find(worker_id);
  if (worker == workers_.end()) return;
  worker->second.session_closed = true;
  // A process that is killed may leave a part of a message.
  const bool broken = error && error->kind != ErrorKind::unknown_outcome;
  if (broken) worker->second.session_error = error->message;
  if (worker->second.exit) {
    finish_worker(worker_id);
    return;
  }
  // A process that ends closes its session a moment before. One that lives on without is deaf, and
  // of no more use.
  constexpr auto exit_max = std::chrono::seconds(5);
  worker->second.last_words = std::make_shared<asio::steady_timer>(loop_, broken ? exit_max.zero() : exit_max);
  worker->second.last_words->async_wait(while_alive([this, worker_id](const boost::system::error_code& failure) {
    if (!failure) signal_worker(worker_id, SIGKILL);
  }));
}

/// Its exit is reported once its log files have all that it printed.
void Agent::finish_worker(std::int64_t worker_id) {
  auto node = workers_.extract(worker_id);
  if (node.empty()) return;
  Worker& worker = node.mapped();
  worker.session->close();
  if (worker.last_words) worker.last_words->cancel();
  if (worker.overdue) worker.overdue->cancel();
  if (worker.exit->detail.empty() && !worker.session_error.empty())
    worker.exit->detail = "its session broke: " + worker.session_error;
  auto finished = std::make_shared<Worker>(std::move(worker));
  auto open = std::make_shared<std::size_t>(finished->output.size());
  const auto closed = while_alive([this, worker_id, finished, open] {
    if (--*open > 0) return;
    std::string tail;
    for (const auto& output : finished->output) {
      tail += output->tail();
      if (!output->trouble().empty()) sink_.notice(output->trouble());
    }
    give_back_scratch(finished->scratch);
    sink_.worker_exited(worker_id, *finished->exit, tail);
  });
  for (const auto& output : finished->output) {
    const auto counted = count_down();
    output->finish([closed, counted] {
      closed();
      counted();
    });
  }
}

}  // namespace headway::node
