#pragma once

#include "flow/budget.hpp"
#include "wire/fd.hpp"

#include <arrow/result.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace headway::flow {

/// Where function workers of other nodes come in (feed::FunctionSeat is their end), each for one
/// link. Any thread may call its functions.
class FunctionDesk {
 public:
  /// Nobody can come yet. `budget` counts what is on its way to and from them; null: nobody counts.
  explicit FunctionDesk(Budget* budget);
  FunctionDesk(const FunctionDesk&) = delete;
  FunctionDesk& operator=(const FunctionDesk&) = delete;
  /// Workers that were not taken end, and links of others break.
  ~FunctionDesk();

  struct Place {
    int port = 0;
    std::string token;  ///< That workers are to have; random.
  };
  /// Listens at `host`, an address of this machine's; the same again if it does already. Errors:
  /// those of cluster::PeerDesk::open.
  arrow::Result<Place> open(const std::string& host);

  /// A link to a worker that nobody has yet, if there is one: a socket on which a worker of this
  /// machine would hear the same.
  std::optional<wire::Fd> take();

  int free() const;
  /// That are there, free or taken.
  int count() const;

  /// `changed` is called when there is one more worker, or one less; on the desk's thread. Null:
  /// `who` hears no more, also not at this moment.
  void on_change(const void* who, std::function<void()> changed);

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace headway::flow
