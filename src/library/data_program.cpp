#include "library/data_program.hpp"

#include "core/json_text.hpp"
#include "feed/data_process.hpp"
#include "library/arrow_libraries.hpp"
#include "library/data_client.hpp"
#include "library/python_interpreter.hpp"
#include "library/worker_bridge.hpp"
#include "storage/remote/remote.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headway::library {
namespace {

namespace fs = std::filesystem;

constexpr const char* program_name = "headway-data";
/// In which variable a rank finds the machine's folder for temporary files (worker_setup.cpp).
constexpr const char* of_machine = "HEADWAY_MACHINE_TMPDIR";

/// Beside the installed library, or beside the one of a development build.
Result<std::string> program_path() {
  const fs::path own = own_folder();
  const fs::path installed = own.parent_path() / "bin" / program_name;
  std::error_code failure;
  for (const fs::path& place : {installed, own / program_name}) {
    if (fs::exists(place, failure)) return place.string();
  }
  return Error{ErrorKind::unavailable, "data sets need the program headway-data, which is not in " +
                                           installed.string() +
                                           "; it is installed together with libheadway.so, where Headway is built with "
                                           "pyarrow"};
}

/// Where the environment names a pyarrow, its libraries are the program's; else the program knows
/// where they are installed beside it.
std::map<std::string, std::string> library_path() {
  const char* named = std::getenv("HEADWAY_PYARROW");
  if (named == nullptr) return {};
  const char* before = std::getenv("LD_LIBRARY_PATH");
  const std::string rest = before == nullptr || *before == '\0' ? "" : ":" + std::string(before);
  return {{"LD_LIBRARY_PATH", pyarrow_folder().string() + rest}};
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Error no_folder(const fs::path& path, int reason) {
  return {ErrorKind::unavailable, "cannot make the folder " + path.string() + ": " + std::strerror(reason)};
}

Result<fs::path> own_directory(const fs::path& path) {
  if (mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) return no_folder(path, errno);
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return no_folder(path, errno);
  if (found.st_uid == getuid()) return path;
  return Error{ErrorKind::unavailable, path.string() + " belongs to another user; set TMPDIR to a folder of this user"};
}

/// This user's folder for scratch files, the one that Python uses.
Result<fs::path> scratch_folder() {
  std::string place = variable(of_machine);
  if (place.empty()) place = variable("TMPDIR");
  const passwd* user = getpwuid(getuid());
  const std::string name = user == nullptr ? std::to_string(getuid()) : user->pw_name;
  return own_directory(fs::path(place.empty() ? "/tmp" : place) / ("headway-data-" + name));
}

/// The folder by which the ranks of a node and attempt find one process; empty outside of ranks.
Result<std::string> shared_folder(const fs::path& scratch) {
  const Context* me = worker_context();
  if (me == nullptr || me->world_size == 1) return std::string();
  if (!variable(of_machine).empty()) return variable("TMPDIR");  // Of the attempt, on this node.
  const std::string name =
      "attempt-" + me->trial_id + "-" + std::to_string(me->attempt) + "-" + std::to_string(me->node_rank);
  const Result<fs::path> folder = own_directory(scratch / name);
  if (!folder) return folder.error();
  return folder->string();
}

/// The command that starts the host of processes of Python; empty where there is no interpreter.
Result<std::vector<std::string>> function_host(const std::string& program) {
  std::error_code failure;
  const fs::path package = fs::canonical(program, failure).parent_path().parent_path();
  const Result<std::string> python = python_interpreter(package.string());
  if (!python) return python.error();
  if (python->empty()) return std::vector<std::string>();
  const bool is_package = fs::exists(package / "__init__.py", failure);
  const std::string code =
      "import sys\n" +
      (is_package ? "sys.path.append(" + json_text(Json(package.parent_path().string())) + ")\n" : "") +
      "try:\n"
      "    from headway._worker.functions.host import main\n"
      "except ImportError as missing:\n"
      "    sys.exit(f'{sys.executable}, which runs DuckDB for a C++ program (HEADWAY_PYTHON), has no "
      "package headway: {missing}')\n"
      "main()\n";
  return std::vector<std::string>{*python, "-c", code};
}

struct Known {
  std::mutex mutex;
  pid_t owner = 0;
  std::unique_ptr<feed::DataProcess> process;
  feed::Hello hello;
};

/// Never destroyed: other threads may read while static objects end.
Known& known() {
  static Known& made = *new Known;
  return made;
}

}  // namespace

Result<void> find_data_program() {
  const Result<std::string> program = program_path();
  if (!program) return program.error();
  return {};
}

Result<DataAddress> data_process() {
  Known& here = known();
  const std::lock_guard lock(here.mutex);
  if (here.owner != getpid()) {
    (void)here.process.release();  // NOLINT(bugprone-unused-return-value): the parent's, in a forked child.
    here.owner = getpid();
  }
  if (!here.process || here.process->has_ended()) {
    here.process.reset();
    const Result<std::string> program = program_path();
    if (!program) return program.error();
    const Result<fs::path> scratch = scratch_folder();
    if (!scratch) return scratch.error();
    const Result<std::string> folder = shared_folder(*scratch);
    if (!folder) return folder.error();
    const Result<std::vector<std::string>> host = function_host(*program);
    if (!host) return host.error();
    Result<feed::DataProcess> started = feed::DataProcess::start(*program, *folder, library_path());
    if (!started) return started.error();
    here.process = std::make_unique<feed::DataProcess>(std::move(*started));
    here.hello.scratch = scratch->string();
    here.hello.function_host = *host;
  }
  return DataAddress{here.process->address(), here.hello};
}

Error in_words_of_data_process(const Error& failure) {
  if (failure.kind != ErrorKind::unavailable && failure.kind != ErrorKind::unknown_outcome) return failure;
  Known& here = known();
  const std::lock_guard lock(here.mutex);
  if (here.owner != getpid() || !here.process || !here.process->is_about_to_end()) return failure;
  here.process.reset();
  const Result<std::string> program = program_path();
  if (!program || feed::DataProcess::can_load(*program, library_path())) return failure;
  return {ErrorKind::unavailable, "headway-data was not loaded: it needs Arrow's libraries, those of " +
                                      storage::needed_pyarrow() + ", which " + pyarrow_folder().string() +
                                      " does not have. HEADWAY_PYARROW names the folder of an installed pyarrow"};
}

void leave_data_process() {
  Known& here = known();
  const std::lock_guard lock(here.mutex);
  if (here.owner == getpid()) here.process.reset();
}

}  // namespace headway::library
