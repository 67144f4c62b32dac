#pragma once

#include "flow/stage.hpp"

#include <arrow/status.h>

#include <mutex>

namespace headway::flow {

/// What is run for one question or write of a client: it ends when the client goes.
class Errand {
 public:
  Errand() = default;
  Errand(const Errand&) = delete;
  Errand& operator=(const Errand&) = delete;

  /// From any thread. What runs returns Cancelled soon.
  void stop();
  bool is_stopped() const;

  /// While it lives, the stage is stopped with the errand.
  class Run {
   public:
    Run(Errand& errand, Stage& stage);
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    ~Run();

   private:
    Errand& errand_;
  };

 private:
  mutable std::mutex mutex_;
  Stage* stage_ = nullptr;
  bool stopped_ = false;
};

}  // namespace headway::flow
