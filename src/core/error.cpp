#include <headway/result.hpp>

namespace headway {

const char* to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument: return "invalid_argument";
    case ErrorKind::not_found: return "not_found";
    case ErrorKind::already_exists: return "already_exists";
    case ErrorKind::unavailable: return "unavailable";
    case ErrorKind::refused: return "refused";
    case ErrorKind::corrupted: return "corrupted";
    case ErrorKind::user_code: return "user_code";
    case ErrorKind::worker_died: return "worker_died";
    case ErrorKind::preempted: return "preempted";
    case ErrorKind::aborted: return "aborted";
    case ErrorKind::superseded: return "superseded";
    case ErrorKind::unknown_outcome: return "unknown_outcome";
    case ErrorKind::internal: return "internal";
  }
  return "internal";
}

}  // namespace headway
