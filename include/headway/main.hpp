#pragma once

#include <headway/export.hpp>

namespace headway {

/// Makes this program one that can train: construct it first in main(), before any thread is
/// started, and keep it until the end.
///
///     int main(int argc, char** argv) {
///       headway::Main guard(argc, argv);  // a worker never gets past this line
///       ...
///     }
///
/// Workers are this program, entered again. In the driver, the constructor forks a worker factory
/// while the process still has one thread, so that libraries are loaded once and a worker starts in
/// milliseconds; what static objects and statements before it have set up, workers see as it was
/// then. In a worker the constructor does the worker's work and ends the process: without
/// destructors of static objects, with `at_quick_exit` handlers and flushed streams.
///
/// HEADWAY_WORKER_START=exec in the environment has every worker start as a new process of this
/// program instead; then threads do not matter. The program's file may be replaced while it runs:
/// workers are the program that was started.
///
/// The constructor never fails: `Trainer::fit` reports mistakes (threads existed already, no
/// process could be made, a second Main) before anything starts. The destructor ends every run and
/// every process of Headway.
class HEADWAY_API Main {
 public:
  Main(int argc, char** argv);
  ~Main();
  Main(const Main&) = delete;
  Main& operator=(const Main&) = delete;

 private:
  bool first_ = false;
};

}  // namespace headway
