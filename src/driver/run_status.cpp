#include "control/status_text.hpp"
#include "core/location.hpp"
#include "driver/run.hpp"
#include "driver/runtime.hpp"
#include "driver/unix_time.hpp"

/// What a run shows of itself: its status for observers and, in status.json, for other programs;
/// what has happened to it, in history.jsonl; and the moving line of a terminal.
namespace headway::driver {

namespace asio = boost::asio;
using std::chrono::steady_clock;

std::shared_ptr<const RunStatus> Run::status() {
  if (!status_) {
    RunStatus status{run_id_, shown_location(folder_->path()), view(), folder_->path(), folder_->local_path()};
    status_ = std::make_shared<const RunStatus>(std::move(status));
  }
  return status_;
}

control::RunView Run::view() const {
  control::RunView view = controller_.view(Time(steady_clock::now().time_since_epoch()));
  view.taken_unix_s = unix_seconds();
  return view;
}

/// An event was handled.
void Run::status_changed() {
  status_.reset();
  runtime_->publisher().changed();
  const control::RunState state = controller_.state();
  if (state >= control::RunState::scheduling && state < control::RunState::closing) status_file_.changed();
  if (line_state_ && *line_state_ != state) move_line();
}

/// Before the commands are carried out: the last of them closes the folder.
void Run::keep_history(const control::Event& event, const control::Commands& commands) {
  const Time now(steady_clock::now().time_since_epoch());
  std::string lines = historian_.lines(now, unix_seconds(), event, commands);
  if (lines.empty()) return;
  asio::post(storage_, [folder = folder_, lines = std::move(lines)] { folder->append_history(lines); });
}

void Run::write_status(std::function<void()> done) {
  asio::post(storage_,
             [self = shared_from_this(), status = status(), engine = runtime_->shown_engine(), done = std::move(done)] {
               self->folder_->write_status(status->view, *engine);
               asio::post(self->loop_, done);
             });
}

void Run::show_moving_line() {
  asio::post(loop_, [self = shared_from_this()] { self->move_line(); });
}

/// At each change of the state, and each second: the times in the line grow even if nothing
/// happens.
void Run::move_line() {
  if (detached_) return;
  line_state_ = controller_.state();
  front_->push_latest(MovingLineShown{control::status_text(view(), spec_)});
  line_timer_.expires_after(std::chrono::seconds(1));
  line_timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& failure) {
    if (const auto self = weak.lock(); self && !failure) self->move_line();
  });
}

void Run::end_status() {
  status_file_.close();
  line_state_.reset();
  line_timer_.cancel();
}

}  // namespace headway::driver
