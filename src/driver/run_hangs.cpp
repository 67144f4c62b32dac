#include "driver/run.hpp"
#include "driver/runtime.hpp"

#include <map>
#include <set>
#include <utility>

/// What the controller wants to know when ranks are waited for: their stacks, and where they stand
/// in their collectives.
namespace headway::driver {

namespace asio = boost::asio;

/// What an examination has brought so far.
struct Run::Examination {
  Examination(asio::io_context& loop, const control::ExamineRanks& order)
      : seen{order.attempt, order.examination, {}, ""},
        outside_open(order.ranks.begin(), order.ranks.end()),
        hook_open(order.hook),
        limit(loop) {}

  bool complete() const { return outside_open.empty() && inside_open.empty() && !hook_open; }

  control::RanksExamined seen;
  std::set<int> outside_open;         ///< Ranks that are being looked at.
  std::set<int> inside_open;          ///< Ranks that are to tell their stacks themselves.
  std::map<int, std::string> stacks;  ///< What those have told.
  bool hook_open;
  asio::steady_timer limit;  ///< For the ranks' and the front end's answers.
};

void Run::carry_out(const control::ExamineRanks& command) {
  auto examination = std::make_shared<Examination>(loop_, command);
  examination_ = examination;
  for (int rank : command.ranks) {
    const auto seen = [weak = weak_from_this(), examination, rank](const ProcessSeen& process) {
      const auto self = weak.lock();
      if (!self || self->examination_ != examination) return;
      examination->seen.processes[rank] = process;
      examination->outside_open.erase(rank);
      self->finish_examination();
    };
    runtime_->nodes().examine(workers_.at(static_cast<std::size_t>(rank)).worker_id, seen);
    if (!runtime_->own_stacks()) continue;
    examination->inside_open.insert(rank);
    send_to(command.attempt, rank, wire::to_frame(wire::TellStacks{command.examination}));
  }
  // A front end whose workers are native has no interpreter that could show its thread's stack.
  examination->hook_open = command.hook && !runtime_->own_stacks();
  if (examination->hook_open) alarms_->push(ExamineHook{command.examination});
  constexpr auto answer_limit = std::chrono::seconds(5);
  examination->limit.expires_after(answer_limit);
  examination->limit.async_wait([weak = weak_from_this(), examination](const boost::system::error_code& failure) {
    const auto self = weak.lock();
    if (failure || !self || self->examination_ != examination) return;
    for (int rank : std::exchange(examination->inside_open, {})) {
      examination->stacks[rank] = "its stack is not shown: it gives no answer\n";
    }
    if (std::exchange(examination->hook_open, false))
      examination->seen.hook_text = "it gives no answer: a call of it holds the interpreter's lock\n";
    self->finish_examination();
  });
  asio::post(loop_, [self = shared_from_this()] { self->finish_examination(); });
}

void Run::on_message(int rank, const wire::StacksTold& message, const wire::Blob&) {
  const auto open = examination_;
  if (!open || open->seen.examination != message.examination || open->inside_open.erase(rank) == 0) return;
  open->stacks[rank] = message.text;
  finish_examination();
}

void Run::hook_examined(std::int64_t examination, std::string text) {
  asio::post(loop_, [self = shared_from_this(), examination, text = std::move(text)] {
    const auto open = self->examination_;
    if (!open || open->seen.examination != examination || !open->hook_open) return;
    open->seen.hook_text = text;
    open->hook_open = false;
    self->finish_examination();
  });
}

void Run::finish_examination() {
  if (!examination_ || !examination_->complete()) return;
  const auto done = std::exchange(examination_, nullptr);
  done->limit.cancel();
  for (const auto& [rank, text] : done->stacks) done->seen.processes[rank].text += text;
  handle(done->seen);
}

void Run::carry_out(const control::LookAtCollectives& command) {
  for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
    send_to(command.attempt, static_cast<int>(rank), wire::to_frame(wire::TellCollectives{command.look}));
  }
}

void Run::on_message(int rank, const wire::CollectivesTold& message, const wire::Blob&) {
  handle(control::CollectivesSeen{attempt_, rank, message.look, message.positions});
}

void Run::carry_out(const control::InterruptHook& command) { alarms_->push(InterruptHook{command.reason}); }

std::vector<FrontEvent> Run::take_alarms() {
  bool was_full = false;
  return alarms_->take(was_full);
}

}  // namespace headway::driver
