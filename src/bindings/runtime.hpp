#pragma once

#include "driver/run.hpp"
#include "driver/runtime.hpp"
#include "driver/tune/experiment.hpp"
#include "node/early_factory.hpp"

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include <nanobind/nanobind.h>

/// The driver's objects as Python holds them.
namespace headway::bindings {

/// Left alone in a forked child of the process that made it: its threads are not there, and could
/// not be joined.
template <class T>
class OfThisProcess {
 public:
  explicit OfThisProcess(std::shared_ptr<T> held) : held_(std::move(held)), pid_(getpid()) {}
  OfThisProcess(OfThisProcess&&) = default;
  ~OfThisProcess() {
    if (!held_) return;
    if (getpid() != pid_) {
      (void)new (std::nothrow) std::shared_ptr<T>(std::move(held_));
      return;
    }
    // The last one joins threads, which may wait for the interpreter's lock.
    const GilReleased released;
    held_.reset();
  }
  T* operator->() const { return held_.get(); }
  const std::shared_ptr<T>& shared() const { return held_; }

 private:
  std::shared_ptr<T> held_;
  pid_t pid_;
};

/// A run with the runtime that it needs for as long as it lives.
struct PyRun {
  OfThisProcess<driver::Runtime> runtime;
  OfThisProcess<driver::Run> run;
};

struct PyRuntime {
  OfThisProcess<driver::Runtime> runtime;
};

/// A worker factory that was started before the runtime.
struct PyEarlyFactory {
  OfThisProcess<node::EarlyFactory> factory;
};

/// An experiment, the same way.
struct PyExperiment {
  OfThisProcess<driver::Runtime> runtime;
  OfThisProcess<driver::Experiment> experiment;
};

wire::Blob to_blob(const nanobind::bytes& bytes);

/// What starts a run, from the arguments of Runtime.start_run.
driver::RunStart run_start(const std::string& spec_json, const std::string& worker_setup_json,
                           const nanobind::bytes& task, const std::optional<nanobind::bytes>& trainer,
                           node::FactoryChoice factory, const std::vector<int>& local_sessions);

/// EarlyFactory.
void bind_early_factory(nanobind::module_& module);

PyExperiment start_experiment(PyRuntime& self, const std::string& spec_json, const std::string& trials_location);

/// Experiment, its events, and what reads one.
void bind_experiment(nanobind::module_& module);

}  // namespace headway::bindings
