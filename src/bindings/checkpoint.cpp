#include "bindings/module.hpp"
#include "core/json.hpp"
#include "storage/checkpoint/checkpoint_copy.hpp"
#include "storage/checkpoint/fetch.hpp"
#include "storage/checkpoint/shared_download.hpp"
#include "storage/checkpoint/survey.hpp"
#include "storage/checkpoint/verification.hpp"
#include "storage/checkpoint/verified_notes.hpp"
#include "storage/remote/remote.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <functional>
#include <optional>

namespace headway::bindings {

namespace nb = nanobind;

namespace {

using Told = std::optional<nb::callable>;

/// Calls a Python function with the progress. What it raises is kept: the work itself goes on.
class Teller {
 public:
  explicit Teller(const Told& told) : told_(told) {}

  storage::OnProgress function() {
    if (!told_) return {};
    return [this](const storage::Progress& progress) {
      const nb::gil_scoped_acquire acquired;
      try {
        (*told_)(progress.bytes, progress.bytes_total, progress.files, progress.files_total);
      } catch (nb::python_error& error) {
        if (!raised_) raised_.emplace(std::move(error));
      }
    };
  }

  /// Raises what the function has raised.
  void finish() {
    if (raised_) throw nb::python_error(std::move(*raised_));
  }

 private:
  const Told& told_;
  std::optional<nb::python_error> raised_;
};

std::string survey(const std::string& location) {
  return to_json_text(without_gil([&] { return storage::survey(location); }));
}

std::string examine(const std::string& checkpoint, const Told& told) {
  Teller teller(told);
  const auto found = without_gil([&] { return storage::examine(checkpoint, teller.function()); });
  teller.finish();
  return to_json_text(found);
}

void note_verified(const std::string& run_directory, const std::string& found) {
  const auto list = unwrap(from_json_text<std::vector<storage::Verification>>(found, "found"));
  without_gil([&] { return storage::note_verified(run_directory, list); });
}

std::optional<std::string> newest_good(const std::string& run_directory) {
  const auto found = without_gil([&] { return storage::newest_good(run_directory); });
  return found ? std::optional(found->checkpoint) : std::nullopt;
}

std::string copy_checkpoint(const std::string& source, const std::string& target, const Told& told) {
  Teller teller(told);
  const auto copied = without_gil([&] { return storage::copy_checkpoint(source, target, teller.function()); });
  teller.finish();
  return to_json_text(copied);
}

void fetch(const std::string& location, const std::string& target_directory) {
  without_gil([&] { return storage::fetch(location, target_directory); });
}

/// Python's handlers run when a signal has interrupted the wait for another process's download;
/// true when one has raised.
bool signal_raised() {
  const GilTaken acquired;
  return PyErr_CheckSignals() != 0;
}

storage::SharedDownload get_shared(const std::string& location, const storage::SharedDownload::Fetch& fetch) {
  bool raised = false;
  auto shared = [&]() -> Result<storage::SharedDownload> {
    const GilReleased released;
    const Result<std::string> base = storage::downloads_directory();
    if (!base) return base.error();
    return storage::SharedDownload::get(*base, location, fetch, [&] { return raised = signal_raised(); });
  }();
  if (raised) throw nb::python_error();
  return unwrap(std::move(shared));
}

storage::SharedDownload share_download(const std::string& location) {
  return get_shared(location, [&](const std::string& directory) { return storage::fetch(location, directory); });
}

/// Nobody else has the name; a sweep removes it when this process was killed.
storage::SharedDownload temporary_directory(const std::string& name) {
  return get_shared(name, [](const std::string&) { return Result<void>(); });
}

}  // namespace

void bind_checkpoint(nb::module_& module) {
  nb::class_<storage::SharedDownload>(module, "SharedDownload", nb::is_weak_referenceable(),
                                      "A directory's files on this machine, shared by the processes that use it now.")
      // Keeps the GIL: a field.
      .def_prop_ro("directory", [](const storage::SharedDownload& self) { return self.directory(); })
      .def(
          "release", [](storage::SharedDownload& self) { self.release(); }, nb::call_guard<GilReleased>(),
          "The files are not needed any more; the last one removes them.");
  module.def("share_download", &share_download, nb::arg("location"),
             "Downloads a checkpoint, or waits for and shares another process's download.");
  module.def("temporary_directory", &temporary_directory, nb::arg("name"),
             "An empty directory of this process, removed when it is released, or after the process was killed.");
  module.def(
      "sweep_downloads", [] { storage::sweep_downloads(); }, nb::call_guard<GilReleased>(),
      "Removes shared downloads and temporary directories whose processes were killed.");
  module.def("fetch", &fetch, nb::arg("location"), nb::arg("target_directory"),
             "Copies a checkpoint's files into a local directory, compared with its manifest on the way.");
  module.def("survey", &survey, nb::arg("location"),
             "What lies at a location, a run or a checkpoint, with its manifests: JSON.");
  module.def("examine", &examine, nb::arg("checkpoint"), nb::arg("told") = nb::none(),
             "Reads a checkpoint whole and compares it with its manifest: JSON. "
             "told(bytes, bytes_total, files, files_total) is called meanwhile, on any thread.");
  module.def("note_verified", &note_verified, nb::arg("run_directory"), nb::arg("found"),
             "Leaves what `examine` has said of checkpoints, a JSON list, in their run's folder for the dashboard. "
             "FileNotFoundError where no run is.");
  module.def("newest_good", &newest_good, nb::arg("run_directory"),
             "The name of a run's newest checkpoint that is whole, found by reading; None when there is none.");
  module.def("copy_checkpoint", &copy_checkpoint, nb::arg("source"), nb::arg("target"), nb::arg("told") = nb::none(),
             "Copies a committed checkpoint, compared with its manifest on the way; the copy's manifest as JSON.");
}

}  // namespace headway::bindings
