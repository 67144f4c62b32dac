#pragma once

#include "bindings/gil.hpp"

#include <headway/result.hpp>

#include <nanobind/nanobind.h>

/// The Python module `headway._core`: one file a subject, no logic.
namespace headway::bindings {

void bind_errors(nanobind::module_& module);
void bind_config(nanobind::module_& module);
void bind_front_events(nanobind::module_& module);
void bind_terminal(nanobind::module_& module);
void bind_driver(nanobind::module_& module);
void bind_watch(nanobind::module_& module);
void bind_worker(nanobind::module_& module);
void bind_storage(nanobind::module_& module);
void bind_checkpoint(nanobind::module_& module);
void bind_agent(nanobind::module_& module);
void bind_data(nanobind::module_& module);
void bind_dashboard(nanobind::module_& module);

/// Raises the Python exception that fits the error's kind.
[[noreturn]] void raise(const Error& error);

/// The value, or the Python exception.
template <class T>
T unwrap(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(*result);
}
inline void unwrap(Result<void> result) {
  if (!result) raise(result.error());
}

/// The value that `work` results in, or the Python exception. `work` runs without the interpreter's
/// lock (the GIL): other threads of Python run meanwhile, and `work` may touch nothing of Python's.
///
/// The rule, which scripts/lint/bindings.py checks: a binding calls what may block within this, or
/// has `nb::call_guard<GilReleased>()`, or the comment above it says why not:
/// `// Keeps the GIL: ...`.
template <class Work>
auto without_gil(const Work& work) {
  auto outcome = [&] {
    const GilReleased released;
    return work();
  }();
  return unwrap(std::move(outcome));
}

}  // namespace headway::bindings
