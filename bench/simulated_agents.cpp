/// Agents with workers that are not there, for scale.py: a process that joins a driver over the
/// real wire, many times over, and answers for all the workers that it is asked to start. They do
/// nothing but report.
///
/// simulated_agents HOST:PORT TOKEN AGENTS WORKERS_PER_AGENT REPORTS
///
/// In the first attempt every worker reports REPORTS times; then one of them dies, and all others
/// must be ended. In the second they report REPORTS times more and return. Prints the times as JSON
/// at the end.
#include "cluster/agent_messages.hpp"
#include "cluster/secure_channel.hpp"
#include "wire/session_messages.hpp"

#include <boost/asio.hpp>

#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <vector>

namespace headway::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

/// `pickle.dumps(None)`: what simulated functions return.
const std::string pickled_none("\x80\x04N.", 4);

/// What all workers of all agents have come to.
struct Figures {
  int workers = 0;
  int reports = 0;
  int started = 0;   ///< In this attempt.
  int training = 0;  ///< In this attempt.
  int reported = 0;  ///< In this attempt: workers whose last report was answered.
  int ended = 0;     ///< In the first attempt: told to die.
  int attempt = 1;
  Clock::time_point first_asked, all_training, all_reported, died, all_ended, restarted;
  double start_s = 0, first_round_s = 0, reports_s = 0, death_s = 0, restart_s = 0;
};

class Agent {
 public:
  Agent(boost::asio::io_context& loop, std::string token, int cpus, Figures& figures)
      : token_(std::move(token)), cpus_(cpus), figures_(figures), renewal_(loop) {}

  void join(std::shared_ptr<cluster::SecureChannel> channel) {
    channel_ = std::move(channel);
    channel_->start(
        [this](const wire::Frame& frame) {
          on_frame(frame);
          return Result<void>();
        },
        [this](const std::optional<Error>&) { renewal_.cancel(); });
    Resources resources{{"CPU", static_cast<double>(cpus_)}};
    channel_->send(wire::to_frame(cluster::Join{
        HEADWAY_VERSION, cluster::proof_of(token_, "agent", channel_->binding()), "simulated", resources, {}, {}}));
  }

 private:
  struct Worker {
    bool is_first = false;
    std::int64_t reported = 0;
  };

  void on_frame(const wire::Frame& frame) {
    const auto message = wire::from_frame<cluster::ToAgent>(frame);
    if (!message) throw std::runtime_error("the driver sent what cannot be read: " + message.error().message);
    std::visit([&](const auto& what) { on(what, frame.blob); }, *message);
  }

  template <class Other>
  void on(const Other&, const wire::Blob&) {}

  void on(const cluster::Refused& message, const wire::Blob&) { throw std::runtime_error(message.reason); }

  void on(const cluster::Welcome& message, const wire::Blob&) {
    channel_->trust();
    lease_ = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(message.lease_s));
    ask_lease();
  }

  void ask_lease() {
    channel_->send(wire::to_frame(cluster::AskLease{++leases_asked_}));
    renewal_.expires_after(lease_ / 4);
    renewal_.async_wait([this](const boost::system::error_code& failure) {
      if (!failure) ask_lease();
    });
  }

  void on(const cluster::StartWorker& message, const wire::Blob& blob) {
    const auto session =
        wire::from_frame<wire::ToWorker>(cluster::inner_frame(message.json_size, blob).value()).value();
    const auto& start = std::get<wire::StartSession>(session);
    if (figures_.started++ == 0) {
      figures_.attempt = std::get<wire::RankRole>(wire::to_role(start.role).value()).attempt;
      figures_.first_asked = Clock::now();
    }
    const std::int64_t id = message.launch.worker_id;
    workers_[id] = Worker{start.plan.rank == 0, 0};
    tell(id, wire::SessionReady{id});
  }

  void on(const cluster::TellWorker& message, const wire::Blob& blob) {
    const auto told = wire::from_frame<wire::ToWorker>(cluster::inner_frame(message.json_size, blob).value()).value();
    const auto worker = workers_.find(message.worker_id);
    if (worker == workers_.end()) return;
    std::visit([&](const auto& what) { hear(worker->first, worker->second, what); }, told);
  }

  void on(const cluster::SignalWorker& message, const wire::Blob&) {
    if (workers_.erase(message.worker_id) == 0) return;
    gone(message.worker_id, {true, message.signal, ""});
    if (++figures_.ended + 1 == figures_.workers) figures_.death_s = seconds(figures_.died, Clock::now());
  }

  template <class Other>
  void hear(std::int64_t, Worker&, const Other&) {}

  void hear(std::int64_t id, Worker&, const wire::Execute& call) {
    tell(id, wire::Executed{call.call_id, {}}, pickled_none);
  }

  void hear(std::int64_t id, Worker& worker, const wire::Train&) {
    if (++figures_.training == figures_.workers) {
      figures_.all_training = Clock::now();
      if (figures_.attempt == 1) figures_.start_s = seconds(figures_.first_asked, figures_.all_training);
      if (figures_.attempt == 2) figures_.restart_s = seconds(figures_.died, figures_.all_training);
    }
    report(id, worker);
  }

  void hear(std::int64_t id, Worker& worker, const wire::ReportAnswered& answer) {
    if (answer.error) throw std::runtime_error("a report was refused: " + *answer.error);
    if (++worker.reported < figures_.reports) {
      report(id, worker);
      return;
    }
    if (figures_.attempt == 2) tell(id, wire::TrainingReturned{}, pickled_none);
    if (++figures_.reported < figures_.workers) return;
    if (figures_.attempt == 1) figures_.reports_s = seconds(figures_.all_training, Clock::now());
    if (figures_.attempt == 1) die(id);
  }

  void hear(std::int64_t id, Worker&, const wire::EndSession&) {
    workers_.erase(id);
    gone(id, {false, 0, ""});
  }

  /// As if by SIGKILL: the driver has to end all others for it.
  void die(std::int64_t id) {
    figures_.started = figures_.training = figures_.reported = 0;
    figures_.died = Clock::now();
    workers_.erase(id);
    gone(id, {true, 9, ""});
  }

  void report(std::int64_t id, const Worker& worker) {
    tell(id, wire::Reported{worker.reported, JsonObject{{"loss", 0.25}, {"step", worker.reported}}, {}, {}});
  }

  template <class M>
  void tell(std::int64_t id, const M& message, const std::string& blob = "") {
    const wire::Blob raw = blob.empty() ? nullptr : std::make_shared<const std::string>(blob);
    channel_->send(cluster::enclose(cluster::WorkerTold{id, 0}, wire::to_frame(message, raw)));
  }

  void gone(std::int64_t id, const ExitStatus& status) {
    channel_->send(wire::to_frame(cluster::WorkerGone{id, status}));
  }

  std::string token_;
  int cpus_;
  Figures& figures_;
  boost::asio::steady_timer renewal_;
  Clock::duration lease_{};
  std::int64_t leases_asked_ = 0;
  std::shared_ptr<cluster::SecureChannel> channel_;
  std::map<std::int64_t, Worker> workers_;
};

int run(const std::vector<std::string>& arguments) {
  const cluster::Endpoint driver = cluster::parse_endpoint("HOST:PORT", arguments.at(0)).value();
  const int agents = std::stoi(arguments.at(2));
  const int workers_each = std::stoi(arguments.at(3));
  Figures figures;
  figures.workers = agents * workers_each;
  figures.reports = std::stoi(arguments.at(4));
  boost::asio::io_context loop{1};
  std::vector<std::unique_ptr<Agent>> all;
  for (int i = 0; i < agents; ++i) {
    all.push_back(std::make_unique<Agent>(loop, arguments.at(1), workers_each, figures));
    cluster::connect(loop, driver.host, driver.port, std::chrono::seconds(30), wire::messages_of<cluster::ToAgent>,
                     [agent = all.back().get()](Result<std::shared_ptr<cluster::SecureChannel>> channel) {
                       agent->join(std::move(channel.value()));
                     });
  }
  loop.run();
  std::cout << "{\"start_s\": " << figures.start_s << ", \"reports_s\": " << figures.reports_s
            << ", \"death_s\": " << figures.death_s << ", \"restart_s\": " << figures.restart_s << "}" << std::endl;
  return 0;
}

}  // namespace
}  // namespace headway::bench

int main(int count, char** values) {
  try {
    return headway::bench::run({values + 1, values + count});
  } catch (const std::exception& error) {
    std::cerr << "simulated_agents: " << error.what() << std::endl;
    return 1;
  }
}
