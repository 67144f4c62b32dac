#include "core/text.hpp"
#include "flow/flow.hpp"
#include "flow/functions/function_pool.hpp"
#include "flow/placed.hpp"

#include <arrow/util/io_util.h>

#include <cerrno>

namespace headway::flow {
namespace {

ErrorKind kind_of(const arrow::Status& status) {
  const int error_number = arrow::internal::ErrnoFromStatus(unplaced(status));
  if (error_number == ENOENT) return ErrorKind::not_found;
  switch (status.code()) {
    case arrow::StatusCode::Invalid:
    case arrow::StatusCode::TypeError:
    case arrow::StatusCode::KeyError:
    case arrow::StatusCode::IndexError:
    case arrow::StatusCode::NotImplemented: return ErrorKind::invalid_argument;
    case arrow::StatusCode::AlreadyExists: return ErrorKind::already_exists;
    case arrow::StatusCode::IOError:
    case arrow::StatusCode::OutOfMemory:
    case arrow::StatusCode::CapacityError: return ErrorKind::unavailable;
    case arrow::StatusCode::Cancelled: return ErrorKind::aborted;
    default: return ErrorKind::internal;
  }
}

}  // namespace

wire::Frame failure_frame(const arrow::Status& status) {
  if (const auto failure = UserFailure::of(status)) {
    const feed::Failed failed{to_string(ErrorKind::user_code), failure->message, failure->traceback, failure->where};
    return wire::to_frame(failed, std::make_shared<const std::string>(failure->pickled));
  }
  feed::Failed failed;
  failed.kind = to_string(kind_of(status));
  // A parser may quote bytes that are no text.
  failed.message = to_utf8(trimmed(status.message()));
  return wire::to_frame(failed);
}

wire::Frame failure_frame(const Error& error) {
  feed::Failed failed;
  failed.kind = to_string(error.kind);
  failed.message = error.message;
  return wire::to_frame(failed);
}

}  // namespace headway::flow
