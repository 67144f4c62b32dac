#include "driver/status_file.hpp"

#include <utility>

namespace headway::driver {

StatusFile::StatusFile(boost::asio::io_context& loop, std::chrono::milliseconds pause, Write write)
    : pause_(pause), write_(std::move(write)), timer_(loop) {}

void StatusFile::changed() {
  if (state_ == State::up_to_date) wait();
  if (state_ == State::writing) state_ = State::outdated;
}

void StatusFile::close() {
  state_ = State::closed;
  timer_.cancel();
  self_.reset();
}

void StatusFile::wait() {
  state_ = State::due;
  timer_.expires_at(began_ + pause_);
  timer_.async_wait([weak = std::weak_ptr(self_)](const boost::system::error_code& failure) {
    const auto self = weak.lock();
    if (!failure && self) (*self)->write();
  });
}

void StatusFile::write() {
  state_ = State::writing;
  began_ = std::chrono::steady_clock::now();
  write_([weak = std::weak_ptr(self_)] {
    if (const auto self = weak.lock()) (*self)->written();
  });
}

void StatusFile::written() {
  const bool again = state_ == State::outdated;
  state_ = State::up_to_date;
  if (again) wait();
}

}  // namespace headway::driver
