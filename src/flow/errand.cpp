#include "flow/errand.hpp"

namespace headway::flow {

void Errand::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (stage_ != nullptr) stage_->stop();
}

bool Errand::is_stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
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
