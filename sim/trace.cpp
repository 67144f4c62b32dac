#include "sim/trace.hpp"

#include <boost/core/demangle.hpp>

#include <cstdio>
#include <typeinfo>

namespace headway::sim {
namespace {

template <class T>
std::string type_name() {
  const std::string name = boost::core::demangle(typeid(T).name());
  return name.substr(name.rfind(':') + 1);
}

std::string first_line(const std::string& text) {
  const std::size_t end = text.find('\n');
  return end == std::string::npos ? text : text.substr(0, end) + " ...";
}

std::string text_of(const std::string& text) { return first_line(text); }
std::string text_of(std::int64_t number) { return std::to_string(number); }
std::string text_of(int number) { return std::to_string(number); }
std::string text_of(const Error& error) { return first_line(error.message); }
std::string text_of(const RankError& error) { return first_line(error.message) + (error.echo ? " (echo)" : ""); }
std::string text_of(const ExitStatus& status) { return to_text(status); }
std::string text_of(const Manifest& manifest) { return manifest.checkpoint; }
std::string text_of(const ReportLine& line) {
  return "attempt " + std::to_string(line.attempt) + " index " + std::to_string(line.index) + " iteration " +
         std::to_string(line.iteration) + " " + line.checkpoint.value_or("");
}
std::string text_of(const control::RunOutcome& outcome) {
  std::string text = outcome.state;
  for (const control::KeptCheckpoint& kept : outcome.checkpoints) text += " " + kept.name;
  return outcome.failure ? text + ": " + first_line(outcome.failure->message) : text;
}
std::string text_of(const CheckpointOffer& offer) {
  std::string text = offer.asynchronous ? "asynchronous" : "synchronous";
  if (offer.directory_name) text += " \"" + *offer.directory_name + "\"";
  for (const FileRecord& file : offer.files) text += " " + file.name;
  return text;
}
std::string text_of(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& each : list) text += (text.empty() ? "" : " ") + each;
  return text;
}
std::string text_of(control::EndMode mode) {
  switch (mode) {
    case control::EndMode::graceful: return "graceful";
    case control::EndMode::terminate: return "SIGTERM";
    case control::EndMode::kill: return "SIGKILL";
  }
  return "?";
}
std::string text_of(Time time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6f s", to_seconds(time.time_since_epoch()));
  return text.data();
}
template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? text_of(*value) : "";
}

template <class T>
void add(std::string& line, const char* name, const T& value) {
  const std::string text = text_of(value);
  if (!text.empty()) line += std::string(" ") + name + (*name == '\0' ? "" : " ") + text;
}

// Each member that a struct has is printed; the struct need not be known.
#define HEADWAY_SIM_MEMBER(member, name) \
  if constexpr (requires { text_of(what.member); }) add(line, name, what.member)

template <class T>
std::string line_of(const T& what) {
  std::string line = type_name<T>();
  HEADWAY_SIM_MEMBER(attempt, "attempt");
  HEADWAY_SIM_MEMBER(rank, "rank");
  HEADWAY_SIM_MEMBER(index, "index");
  HEADWAY_SIM_MEMBER(name, "");
  HEADWAY_SIM_MEMBER(manifest, "");
  HEADWAY_SIM_MEMBER(checkpoint, "checkpoint");
  HEADWAY_SIM_MEMBER(files, "files");
  HEADWAY_SIM_MEMBER(timer, "");
  HEADWAY_SIM_MEMBER(at, "at");
  HEADWAY_SIM_MEMBER(mode, "");
  HEADWAY_SIM_MEMBER(status, "");
  HEADWAY_SIM_MEMBER(line, "");
  HEADWAY_SIM_MEMBER(outcome, "");
  HEADWAY_SIM_MEMBER(error, "error:");
  HEADWAY_SIM_MEMBER(reason, "because:");
  HEADWAY_SIM_MEMBER(text, "");
  return line;
}

#undef HEADWAY_SIM_MEMBER

}  // namespace

std::string words(const control::Event& event) {
  return std::visit([](const auto& what) { return line_of(what); }, event);
}
std::string words(const control::Command& command) {
  return std::visit([](const auto& what) { return line_of(what); }, command);
}

void Trace::event(Time now, const control::Event& event) const {
  if (on_) std::printf("%14s  %s\n", text_of(now).c_str(), words(event).c_str());
}
void Trace::command(const control::Command& command) const {
  if (on_) std::printf("%14s      %s\n", "", words(command).c_str());
}
void Trace::state(std::string_view state) const {
  if (on_) std::printf("%14s  = %.*s\n", "", static_cast<int>(state.size()), state.data());
}
void Trace::fault(Time now, std::string_view what) const {
  if (on_) std::printf("%14s  ! %.*s\n", text_of(now).c_str(), static_cast<int>(what.size()), what.data());
}
void Trace::note(Time now, std::string_view what) const {
  if (on_) std::printf("%14s  . %.*s\n", text_of(now).c_str(), static_cast<int>(what.size()), what.data());
}

}  // namespace headway::sim
