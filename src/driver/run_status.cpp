#include "control/status_text.hpp"
#include "driver/run.hpp"
#include "driver/unix_time.hpp"

/// What a run shows of itself while it is at work: a line for a terminal, and status.json for other
/// programs.
namespace headway::driver {

namespace asio = boost::asio;
using std::chrono::steady_clock;

void Run::show_status() {
  asio::post(loop_, [self = shared_from_this()] { self->shows_status_ = true; });
}

/// Each second.
void Run::tick() {
  if (detached_) return;
  const control::RunState state = controller_.state();
  const bool has_folder = state >= control::RunState::scheduling && state < control::RunState::closing;
  const bool writes = ticks_++ % 2 == 0 && has_folder && !writes_status_;
  if (shows_status_ || writes) {
    control::RunView view = controller_.view(Time(steady_clock::now().time_since_epoch()));
    view.taken_unix_s = unix_seconds();
    if (shows_status_) front_->push_latest(StatusShown{control::status_text(view, spec_)});
    if (writes) {
      writes_status_ = true;
      asio::post(storage_, [self = shared_from_this(), view = std::move(view)] {
        self->folder_->write_status(to_json_text(view) + "\n");
        asio::post(self->loop_, [self] { self->writes_status_ = false; });
      });
    }
  }
  tick_timer_.expires_after(std::chrono::seconds(1));
  tick_timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& failure) {
    if (const auto self = weak.lock(); self && !failure) self->tick();
  });
}

}  // namespace headway::driver
