#include "data/cursor.hpp"

namespace headway::data {

Position position_of(const Cursor& cursor) { return {cursor.rows_before, cursor.window, cursor.row, cursor.batches}; }

Cursor moved(Cursor cursor, const Position& to) {
  cursor.rows_before = to.rows_before;
  cursor.window = to.window;
  cursor.row = to.row;
  cursor.batches = to.batches;
  return cursor;
}

Cursor next_epoch(Cursor cursor) {
  ++cursor.epoch;
  return moved(std::move(cursor), {});
}

std::string source_hash(std::span<const UnitSize> units) {
  std::string text;
  for (const UnitSize& unit : units) text += std::to_string(unit.rows) + "," + std::to_string(unit.bytes) + ";";
  return digest_of(text);
}

Result<Cursor> parse_cursor(const Json& json, std::string_view subject) {
  const JsonObject* object = json.if_object();
  const Json* version = object == nullptr ? nullptr : object->if_contains("version");
  if (version != nullptr && version->is_int64() && version->get_int64() > cursor_version) {
    return Error{ErrorKind::invalid_argument, std::string(subject) + " was written by a newer version of Headway (" +
                                                  json_text(*version) + "; this one reads " +
                                                  std::to_string(cursor_version) + ")"};
  }
  Result<Cursor> cursor = from_json<Cursor>(json, subject);
  if (cursor && (cursor->rows_before < 0 || cursor->row < 0 || cursor->batches < 0 || cursor->lanes < 1 ||
                 cursor->window_bytes < 1 || cursor->row > cursor->rows_before)) {
    return Error{ErrorKind::corrupted, std::string(subject) + " is no position: " + json_text(json)};
  }
  return cursor;
}

Result<void> check_cursor(const Cursor& cursor, const PlanIdentity& plan, std::string_view source_hash,
                          std::string_view subject) {
  const std::string cannot = std::string(subject) + " cannot resume from its cursor: ";
  if (cursor.plan_hash != plan_hash(plan)) {
    return Error{ErrorKind::invalid_argument,
                 cannot + "the operations have changed (" + difference(cursor.plan, plan) + ")"};
  }
  if (cursor.source_hash != source_hash) {
    return Error{ErrorKind::invalid_argument, cannot + "its files have other sizes or numbers of rows than before"};
  }
  return {};
}

}  // namespace headway::data
