#include "worker/teller.hpp"

namespace headway::worker {

void Teller::answer(std::function<void()> tell) {
  if (busy_.exchange(true)) return;
  thread_.start("headway-teller", [this, tell = std::move(tell)] {
    tell();
    busy_ = false;
  });
}

}  // namespace headway::worker
