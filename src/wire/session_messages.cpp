#include "wire/session_messages.hpp"

#include "core/manifest.hpp"

namespace headway::wire {
namespace {

Result<void> check_files(const std::vector<FileRecord>& files) {
  for (const FileRecord& file : files) {
    if (auto fits = check_file_name(file.name); !fits) return fits;
  }
  return {};
}

template <class M>
Result<void> check_said(const M&) {
  return {};
}

Result<void> check_said(const Reported& message) {
  if (!message.checkpoint) return {};
  if (const auto& name = message.checkpoint->directory_name) {
    if (auto fits = check_checkpoint_name(*name, "the reported checkpoint"); !fits) return fits;
  }
  return check_files(message.checkpoint->files);
}

Result<void> check_said(const Uploaded& message) {
  if (message.stored_name) {
    if (auto fits = check_checkpoint_name(*message.stored_name, "the stored checkpoint"); !fits) return fits;
  }
  return check_files(message.files);
}

}  // namespace

Result<void> check_message(const FromWorker& message) {
  return std::visit([](const auto& what) { return check_said(what); }, message);
}

}  // namespace headway::wire
