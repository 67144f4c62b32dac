#pragma once

#include <headway/export.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

/// Values that either are there or say why not. Nothing in Headway throws below the public API's
/// edge.
namespace headway {

/// What the caller should do about an error; the list is short on purpose.
enum class ErrorKind {
  /// Fix the call: the message names the argument, what was given and what is allowed.
  invalid_argument,
  not_found,       ///< What was named is not there.
  already_exists,  ///< What was to be made is there already; nothing was changed.
  /// A resource is missing or full now (disk, processes, memory); the same call may succeed later.
  unavailable,
  /// Storage says no, and will again: rights, credentials, no such bucket, no space.
  refused,
  /// Stored bytes are not what was written; the message names file, expected and found.
  corrupted,
  user_code,    ///< The user's own function failed; the message begins with its failure.
  worker_died,  ///< A worker process ended without having finished.
  preempted,    ///< A node was taken away, with notice, or SIGTERM told the driver to end.
  aborted,      ///< Somebody asked for the end (Ctrl-C, shutdown).
  /// Another process has taken over what this one owned: stop, and write nothing more.
  superseded,
  unknown_outcome,  ///< It may or may not have happened: the peer went away before it answered.
  internal          ///< A defect in Headway.
};

/// The kind's name as written in messages and journals, such as "invalid_argument".
HEADWAY_API const char* to_string(ErrorKind kind);

/// What went wrong, in words for the person who reads them.
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
};

/// Thrown by `Result<T>::value()` when there is none.
class HEADWAY_API BadResult : public std::runtime_error {
 public:
  explicit BadResult(Error error) : std::runtime_error(error.message), error_(std::move(error)) {}
  const Error& error() const { return error_; }

 private:
  Error error_;
};

/// A `T` or an `Error`. Example:
///
///     headway::Result<headway::Checkpoint> opened = headway::Checkpoint::open("/data/run/checkpoint_000003");
///     if (!opened) std::cerr << opened.error().message << '\n';
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  bool has_value() const { return state_.index() == 0; }

  /// The value; throws `BadResult` when there is an error instead.
  T& value() & {
    check();
    return std::get<0>(state_);
  }
  const T& value() const& {
    check();
    return std::get<0>(state_);
  }
  /// By value, so that it outlives the `Result` in `for (const auto& name :
  /// storage.list().value())`.
  T value() && {
    check();
    return std::get<0>(std::move(state_));
  }

  /// Unchecked access: only after `has_value()` said yes.
  T& operator*() { return *std::get_if<0>(&state_); }
  const T& operator*() const { return *std::get_if<0>(&state_); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }

  /// Unchecked access: only after `has_value()` said no.
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  void check() const {
    if (!has_value()) throw BadResult(error());
  }
  std::variant<T, Error> state_;
};

/// Success without a value, or an `Error`.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}

  explicit operator bool() const { return !failed_; }
  bool has_value() const { return !failed_; }
  void value() const {
    if (failed_) throw BadResult(error_);
  }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool failed_ = false;
};

}  // namespace headway
