#include "node/stack_text.hpp"

#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace headway::node {
namespace {

constexpr std::size_t threads_max = 6;
constexpr std::size_t frames_max = 40;
constexpr std::size_t name_max = 160;

struct Frame {
  std::string name;
  std::string filename;
  std::string short_filename;
  std::optional<std::string> module;  ///< The shared object of a native frame.
  std::int64_t line = 0;
};
BOOST_DESCRIBE_STRUCT(Frame, (), (name, filename, short_filename, module, line))

struct Thread {
  std::int64_t pid = 0;
  std::optional<std::string> thread_name;
  std::int64_t os_thread_id = 0;
  bool active = false;
  bool owns_gil = false;
  std::vector<Frame> frames;
};
BOOST_DESCRIBE_STRUCT(Thread, (), (pid, thread_name, os_thread_id, active, owns_gil, frames))

bool is_own(const Frame& frame) { return frame.filename.find("/headway/_worker/") != std::string::npos; }

/// Five of them for each import, which the modules' own frames tell as well.
bool is_import_machinery(const Frame& frame) { return frame.filename.starts_with("<frozen importlib"); }

/// The user's function is called by frames of ours; in a thread that has only ours they are what
/// there is to see.
void drop_callers(std::vector<Frame>& frames) {
  std::erase_if(frames, is_import_machinery);
  const auto first = std::find_if(frames.begin(), frames.end(), is_own);
  if (first != frames.begin()) frames.erase(first, frames.end());
}

std::string line_of(const Frame& frame) {
  std::string name = frame.name;
  if (name.size() > name_max) name = to_utf8(name.substr(0, name_max)) + "...";
  if (frame.module) return "  " + name + " (" + frame.short_filename + ")\n";
  const bool installed = frame.filename.find("/site-packages/") != std::string::npos;
  return "  " + name + " (" + (installed ? frame.short_filename : frame.filename) + ":" + std::to_string(frame.line) +
         ")\n";
}

/// A program that has not imported `threading` has no name for it.
bool is_main(const Thread& thread) { return thread.thread_name == "MainThread" || thread.os_thread_id == thread.pid; }

std::string text_of(const Thread& thread) {
  std::string text =
      is_main(thread) ? "MainThread" : thread.thread_name.value_or("thread " + std::to_string(thread.os_thread_id));
  text += thread.active ? " (running" : " (waiting";
  text += thread.owns_gil ? ", with the interpreter's lock" : "";
  text += "), innermost frame first:\n";
  for (std::size_t i = 0; i < thread.frames.size() && i < frames_max; ++i) text += line_of(thread.frames[i]);
  if (thread.frames.size() > frames_max) {
    text += "  and " + std::to_string(thread.frames.size() - frames_max) + " more\n";
  }
  return text;
}

/// "torch._dynamo" for ".../site-packages/torch/_dynamo/__init__.py".
std::string module_of(const Frame& frame) {
  constexpr std::string_view packages = "/site-packages/";
  const std::size_t installed = frame.filename.rfind(packages);
  const std::size_t begin =
      installed == std::string::npos ? frame.filename.rfind('/') + 1 : installed + packages.size();
  std::string name = frame.filename.substr(begin);
  for (const std::string_view end : {".py", "/__init__"}) {
    if (name.ends_with(end)) name.resize(name.size() - end.size());
  }
  std::replace(name.begin(), name.end(), '/', '.');
  return to_utf8(name.substr(0, name_max));
}

Result<std::vector<Thread>> threads_of(std::string_view printed) {
  const std::size_t begin = printed.starts_with('[') ? 0 : printed.find("\n[");
  if (begin == std::string_view::npos) return Error{ErrorKind::corrupted, "no stacks"};
  return from_json_text<std::vector<Thread>>(printed.substr(begin), "py-spy's output");
}

}  // namespace

std::string module_imported(std::string_view printed) {
  const Result<std::vector<Thread>> threads = threads_of(printed);
  if (!threads) return "";
  const auto main = std::find_if(threads->begin(), threads->end(), is_main);
  if (main == threads->end()) return "";
  const auto code = std::find_if(main->frames.begin(), main->frames.end(),
                                 [](const Frame& frame) { return frame.name == "<module>"; });
  const bool imported = std::any_of(code, main->frames.end(), is_import_machinery);
  return imported ? module_of(*code) : "";
}

Result<std::string> stack_text(std::string_view printed) {
  Result<std::vector<Thread>> threads = threads_of(printed);
  if (!threads) return threads.error();
  std::stable_partition(threads->begin(), threads->end(), is_main);
  std::string text;
  for (std::size_t i = 0; i < threads->size() && i < threads_max; ++i) {
    drop_callers((*threads)[i].frames);
    text += text_of((*threads)[i]);
  }
  if (threads->size() > threads_max) {
    text += "and " + std::to_string(threads->size() - threads_max) + " more threads\n";
  }
  return text;
}

}  // namespace headway::node
