#include "core/manifest.hpp"

#include "core/json.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <string_view>
#include <tuple>

namespace headway {

bool is_own_name(std::string_view name) {
  return name == manifest_name || name == begun_marker_name || name.starts_with(begun_marker_prefix) ||
         name.starts_with(part_prefix);
}

namespace {

/// The text with '?' for each byte outside ASCII, for messages about text that is not UTF-8.
std::string ascii_only(std::string_view text) {
  std::string shown(text);
  std::replace_if(
      shown.begin(), shown.end(), [](char letter) { return static_cast<unsigned char>(letter) >= 0x80; }, '?');
  return shown;
}

/// The first one that is a control character or none at all, as "U+000A".
std::optional<std::string> character_without_xml(std::string_view utf8) {
  for (; !utf8.empty(); utf8.remove_prefix(utf8_length(utf8))) {
    if (utf8.starts_with("\xEF\xBF\xBE")) return "U+FFFE";
    if (utf8.starts_with("\xEF\xBF\xBF")) return "U+FFFF";
    const unsigned byte = static_cast<unsigned char>(utf8.front());
    if (byte >= 0x20 && byte != 0x7F) continue;
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "U+%04X", byte);
    return text.data();
  }
  return {};
}

}  // namespace

Result<void> check_file_name(std::string_view name) {
  const auto refuse = [&](const char* why) -> Result<void> {
    return Error{ErrorKind::invalid_argument, "checkpoint file name " + json_text(Json(std::string(name))) + " " + why};
  };
  if (!is_utf8(name)) {
    return Error{ErrorKind::invalid_argument, "checkpoint file name \"" + ascii_only(name) + "\" is not UTF-8"};
  }
  if (name.empty()) return refuse("is empty");
  if (name.front() == '/') return refuse("is absolute; names are relative to the checkpoint directory");
  if (name.find('\0') != std::string_view::npos) return refuse("holds a NUL");
  if (is_own_name(name.substr(0, name.find('/')))) return refuse("is Headway's own");
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t slash = std::min(name.find('/', start), name.size());
    const std::string_view part = name.substr(start, slash - start);
    if (part.empty() || part == "." || part == "..") return refuse("has an empty, '.' or '..' part");
    start = slash + 1;
  }
  return {};
}

Result<void> check_checkpoint_name(std::string_view name, std::string_view subject) {
  constexpr std::size_t bytes_max = 200;
  constexpr std::array<std::string_view, 8> runs_own{"result.json", "progress.csv",   "run.json", "params.json",
                                                     "trainer.pkl", ".headway.owner", "logs",     "artifacts"};
  const bool plain = check_file_name(name) && name.find('/') == std::string_view::npos && name.size() <= bytes_max;
  if (plain && std::ranges::find(runs_own, name) == runs_own.end()) return {};
  const std::string shown = is_utf8(name) ? json_text(Json(std::string(name))) : "\"" + ascii_only(name) + "\"";
  return Error{ErrorKind::invalid_argument,
               std::string(subject) + " is " + shown +
                   "; allowed: one folder name of 1 to 200 bytes without '/', and not that of one of the run's files"};
}

Result<void> check_remote_name(std::string_view name, std::string_view subject) {
  const auto refuse = [&](const std::string& shown, const std::string& why) -> Result<void> {
    return Error{ErrorKind::invalid_argument, std::string(subject) + " " + shown + " " + why + ": give it another one"};
  };
  if (!is_utf8(name)) return refuse("\"" + ascii_only(name) + "\"", "is not UTF-8, which remote storage cannot keep");
  const std::optional<std::string> found = character_without_xml(name);
  if (!found) return {};
  return refuse(json_text(Json(std::string(name))), "holds " + *found + ", which remote storage cannot keep");
}

Result<void> check_manifest(const Manifest& manifest, std::string_view subject, ErrorKind kind) {
  const std::string start = std::string(subject) + ": ";
  if (manifest.version != manifest_version) {
    return Error{kind, start + "manifest version " + std::to_string(manifest.version) +
                           " is not known; this Headway reads version " + std::to_string(manifest_version)};
  }
  if (!manifest.checkpoint.empty()) {
    if (auto fits = check_checkpoint_name(manifest.checkpoint, "its checkpoint"); !fits)
      return Error{kind, start + fits.error().message};
  }
  std::set<std::string_view> seen;
  for (const FileRecord& file : manifest.files) {
    if (Result<void> fits = check_file_name(file.name); !fits) return Error{kind, start + fits.error().message};
    if (!seen.insert(file.name).second) return Error{kind, start + "the file " + file.name + " is listed twice"};
  }
  return {};
}

bool is_older(const Manifest& a, const Manifest& b) {
  const auto place = [](const Manifest& manifest) {
    const std::int64_t report = manifest.report ? manifest.report->index : -1;
    return std::tuple(manifest.index, manifest.owner_epoch, manifest.attempt, report, manifest.created_unix_s,
                      std::string_view(manifest.checkpoint));
  };
  return place(a) < place(b);
}

Result<Manifest> parse_manifest(std::string_view text, std::string_view subject) {
  Result<Json> json = parse_json(text, subject);
  if (!json) return json.error();
  // Before all else: what a newer version has changed would look like damage.
  const Json* version = json->is_object() ? json->as_object().if_contains("version") : nullptr;
  if (version != nullptr && version->is_int64() && version->as_int64() > manifest_version) {
    return Error{ErrorKind::invalid_argument, std::string(subject) +
                                                  " was written by a newer Headway (manifest version " +
                                                  std::to_string(version->as_int64()) + "; this one reads version " +
                                                  std::to_string(manifest_version) + ")"};
  }
  // The first manifests had no owner.
  if (json->is_object()) json->as_object().emplace("owner_epoch", 0);
  Manifest manifest;
  if (const auto wrong = codec::read(codec::of<Manifest>, *json, &manifest)) {
    return misfit_error(*wrong, std::string(subject) + " is damaged");
  }
  if (Result<void> valid = check_manifest(manifest, subject, ErrorKind::corrupted); !valid) return valid.error();
  return manifest;
}

}  // namespace headway
