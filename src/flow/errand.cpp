#include "flow/errand.hpp"

namespace headway::flow {

void Errand::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (stage_ != nullptr) stage_->stop();
  changed_.notify_all();
}

bool Errand::is_stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

arrow::Result<std::vector<std::string>> Errand::names(std::size_t first, std::size_t count) {
  if (!asking_) return arrow::Status::Invalid("nobody is there who names files");
  std::unique_lock lock(mutex_);
  asked_ = true;
  names_.reset();
  lock.unlock();
  asking_(first, count);
  lock.lock();
  changed_.wait(lock, [this] { return names_.has_value() || stopped_; });
  asked_ = false;
  if (stopped_) return arrow::Status::Cancelled("the client has gone");
  return std::move(*names_);
}

bool Errand::answer(std::vector<std::string> names) {
  const std::lock_guard lock(mutex_);
  if (!asked_ || names_.has_value()) return false;
  names_ = std::move(names);
  changed_.notify_all();
  return true;
}

Errand::Run::Run(Errand& errand, Stage& stage) : errand_(errand) {
  const std::lock_guard lock(errand_.mutex_);
  errand_.stage_ = &stage;
  if (errand_.stopped_) stage.stop();
}

Errand::Run::~Run() {
  const std::lock_guard lock(errand_.mutex_);
  errand_.stage_ = nullptr;
}

}  // namespace headway::flow
