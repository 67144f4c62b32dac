#pragma once

#include "flow/stage.hpp"

#include <arrow/result.h>

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace headway::flow {

/// What is run for one question or write of a client: it ends when the client goes.
class Errand {
 public:
  /// Sends the client the question for names of so many files, from the file `first` on. Any
  /// thread.
  using Asking = std::function<void(std::size_t first, std::size_t count)>;

  Errand() = default;
  Errand(const Errand&) = delete;
  Errand& operator=(const Errand&) = delete;

  /// From any thread. What runs returns Cancelled soon.
  void stop();
  bool is_stopped() const;

  /// Before it is run.
  void ask_by(Asking asking) { asking_ = std::move(asking); }
  /// What the client calls so many files, from the file `first` on. Waits for it. Errors: Cancelled
  /// once the errand is stopped.
  arrow::Result<std::vector<std::string>> names(std::size_t first, std::size_t count);
  /// The client's answer. False: nobody has asked.
  bool answer(std::vector<std::string> names);

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
  Asking asking_;
  bool asked_ = false;
  std::optional<std::vector<std::string>> names_;  ///< The answer.
  std::condition_variable changed_;
};

}  // namespace headway::flow
