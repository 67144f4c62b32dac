#include "worker/teller.hpp"

namespace headway::worker {

void Teller::answer(std::function<void()> tell) {
  if (busy_.exchange(true)) return;
  const Result<void> started = thread_.start("headway-teller", [this, tell = std::move(tell)] {
    tell();
    busy_ = false;
  });
  if (!started) busy_ = false;  // The next question may find a thread.
}

}  // namespace headway::worker
