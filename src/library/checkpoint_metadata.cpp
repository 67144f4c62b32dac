#include <headway/checkpoint.hpp>

#include "core/json.hpp"
#include "core/location.hpp"
#include "core/manifest.hpp"
#include "storage/checkpoint/verification.hpp"
#include "storage/storage.hpp"

/// What programs tell about a checkpoint. Apart from checkpoint.cpp as it is all about core's JSON.
namespace headway {
namespace {

/// Text to an object. Errors: of the kind `bad`, naming `subject`.
Result<JsonObject> parse_object(const std::string& text, const std::string& subject, ErrorKind bad) {
  Result<Json> json = parse_json(text, subject);
  if (!json) return Error{bad, json.error().message};
  if (!json->is_object()) {
    return Error{bad, subject + " is " + json_text(*json) + "; allowed: a JSON object, such as {\"classes\": 10}"};
  }
  return std::move(json->get_object());
}

Result<JsonObject> read_metadata(const std::string& path) {
  JsonObject metadata;
  const Result<Manifest> manifest = storage::read_manifest_or_offer(path);
  if (manifest) {
    metadata = manifest->metadata.value_or(JsonObject());
  } else if (manifest.error().kind != ErrorKind::not_found) {
    return manifest.error();
  }
  const std::string file = join_location(path, metadata_name);
  const Result<std::string> text = storage::read_file(file);
  if (!text) return text.error().kind == ErrorKind::not_found ? Result<JsonObject>(metadata) : text.error();
  const Result<JsonObject> own = parse_object(*text, shown_location(file), ErrorKind::corrupted);
  if (!own) return own.error();
  for (const auto& entry : *own) metadata[entry.key()] = entry.value();
  return metadata;
}

Result<void> write_metadata(const std::string& path, const JsonObject& metadata) {
  return storage::replace_file(join_location(path, metadata_name), json_text(metadata) + "\n");
}

}  // namespace

Result<std::string> Checkpoint::metadata_json() const {
  const Result<JsonObject> metadata = read_metadata(path_);
  if (!metadata) return metadata.error();
  return json_text(*metadata);
}

Result<void> Checkpoint::set_metadata_json(const std::string& object) const {
  const Result<JsonObject> metadata = parse_object(object, "metadata", ErrorKind::invalid_argument);
  return metadata ? write_metadata(path_, *metadata) : metadata.error();
}

Result<void> Checkpoint::update_metadata_json(const std::string& object) const {
  const Result<JsonObject> added = parse_object(object, "metadata", ErrorKind::invalid_argument);
  if (!added) return added.error();
  Result<JsonObject> metadata = read_metadata(path_);
  if (!metadata) return metadata.error();
  for (const auto& entry : *added) (*metadata)[entry.key()] = entry.value();
  return write_metadata(path_, *metadata);
}

}  // namespace headway
