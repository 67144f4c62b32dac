#include "library/engine_bridge.hpp"

#include "library/agent_mode.hpp"
#include "library/arrow_libraries.hpp"
#include "library/python_interpreter.hpp"

#include <cstdio>
#include <filesystem>
#include <sys/wait.h>

namespace headway::library {
namespace {

namespace fs = std::filesystem;

/// What Python answers: one of the two.
struct Answer {
  std::optional<FoundEngine> engine;
  std::optional<std::string> error;
};
BOOST_DESCRIBE_STRUCT(Answer, (), (engine, error))

struct Question {
  std::string address;
  JsonObject options;
  std::vector<std::string> agent;
};
BOOST_DESCRIBE_STRUCT(Question, (), (address, options, agent))

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char each : text) {
    if (each == '\'') {
      result += "'\\''";
    } else {
      result += each;
    }
  }
  return result + "'";
}

Error no_python(const std::string& words) {
  return {ErrorKind::unavailable, "an engine is asked by a Python with the package headway: " + words +
                                      "; set HEADWAY_PYTHON to the path of one"};
}

/// The folder above the package headway, where the library lies in one; else empty.
std::string import_folder(const fs::path& library) {
  std::error_code failure;
  const fs::path package = library.parent_path();
  return fs::exists(package / "__init__.py", failure) ? package.parent_path().string() : "";
}

/// What a command prints.
Result<std::string> output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "re");
  if (pipe == nullptr) return no_python("no process can be started");
  std::string output;
  char part[4096];
  while (const std::size_t size = fread(part, 1, sizeof part, pipe)) output.append(part, size);
  const int status = pclose(pipe);
  if (status != 0) return no_python("it has ended with status " + std::to_string(WEXITSTATUS(status)));
  return output;
}

}  // namespace

Result<FoundEngine> find_engine(const std::string& address, const std::string& options_json) {
  auto options = from_json_text<JsonObject>(options_json, "InitOptions::engine_options");
  if (!options) return Error{ErrorKind::invalid_argument, "engine_options is no JSON object; allowed: one"};
  const Result<std::string> python = python_interpreter(own_folder().parent_path().string());
  if (!python) return python.error();
  if (python->empty()) return no_python("none is found");
  const std::string folder = import_folder(own_folder());
  const std::string path = folder.empty() ? "" : "sys.path.append(" + json_text(Json(folder)) + "); ";
  const std::string code = "import sys; " + path + "from headway._engines.for_programs import main; main(sys.argv[1])";
  const std::string question = to_json_text(Question{address, std::move(*options), agent_command()});
  const auto output = output_of(quoted(*python) + " -c " + quoted(code) + " " + quoted(question));
  if (!output) return output.error();
  auto answer = from_json_text<Answer>(*output, "the engine's checks");
  if (!answer) return answer.error();
  if (answer->error) return Error{ErrorKind::invalid_argument, *answer->error};
  if (!answer->engine) return no_python("it answers nothing");
  return std::move(*answer->engine);
}

}  // namespace headway::library
