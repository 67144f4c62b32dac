#include "feed/function_relay.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace headway::feed {
namespace {

using AnyMessage =
    std::variant<FunctionSetup, UnitOrder, FunctionContinue, FunctionOutput, FunctionDone, FunctionFailed>;

/// A unit's own memory; a worker's slots have numbers above it.
constexpr std::int64_t unit_memory = 0;

template <class M>
constexpr wire::Carried with_rows() {
  return {M::is, {M::bounds.json_max, wire::blob_size_max, 0}};
}

template <class M>
constexpr wire::Carried as_it_is() {
  return {M::is, wire::bounds_of<M>()};
}

constexpr std::array peer_kinds{
    as_it_is<cluster::Greet>(),  as_it_is<cluster::Greeted>(), as_it_is<cluster::Refused>(),
    as_it_is<FunctionSetup>(),   with_rows<UnitOrder>(),       as_it_is<FunctionContinue>(),
    with_rows<FunctionOutput>(), as_it_is<FunctionDone>(),     as_it_is<FunctionFailed>(),
};

Error broken(const std::string& what) { return {ErrorKind::corrupted, "a function worker's memory " + what}; }

/// Of a peer that tells nonsense, one that no memory has.
std::int64_t end_of(const FunctionOutput& output) {
  std::int64_t end = 0;
  for (const OutputPiece& piece : output.pieces) {
    std::int64_t own = 0;
    if (__builtin_add_overflow(piece.offset, piece.size, &own)) return std::numeric_limits<std::int64_t>::max();
    end = std::max(end, own);
  }
  return end;
}

}  // namespace

std::span<const wire::Carried> function_peer_messages() { return peer_kinds; }

FunctionRelay::FunctionRelay(boost::asio::io_context& loop, wire::Fd socket, std::span<const wire::Carried> from_socket,
                             std::shared_ptr<cluster::SecureChannel> channel, Count count)
    : socket_(std::make_shared<wire::Channel>(loop, std::move(socket), from_socket)),
      channel_(std::move(channel)),
      count_(std::move(count)) {}

void FunctionRelay::start(std::function<void(bool)> worked, std::function<void()> ended) {
  worked_ = std::move(worked);
  ended_ = std::move(ended);
  channel_->hand_over(
      [weak = weak_from_this()](wire::Frame frame) {
        const auto self = weak.lock();
        return self ? self->from_channel(std::move(frame)) : Result<void>();
      },
      [weak = weak_from_this()](const std::optional<Error>&) {
        if (const auto self = weak.lock()) self->end();
      });
  socket_->start(
      [weak = weak_from_this()](wire::Frame frame) {
        const auto self = weak.lock();
        return self ? self->from_socket(std::move(frame)) : Result<void>();
      },
      [weak = weak_from_this()](const std::optional<Error>&) {
        if (const auto self = weak.lock()) self->end();
      });
}

void FunctionRelay::close() {
  over_ = true;
  socket_->close();
  channel_->close();
  ours_.clear();
  theirs_.clear();
  expected_.reset();
}

void FunctionRelay::end() {
  if (std::exchange(over_, true)) return;
  close();
  if (const auto ended = std::exchange(ended_, nullptr)) ended();
}

void FunctionRelay::note(bool works) {
  if (worked_) worked_(works);
}

Result<wire::Blob> FunctionRelay::bytes_of(std::int64_t number, std::int64_t bytes) const {
  const auto memory = theirs_.find(number);
  if (memory == theirs_.end()) return broken("was not sent");
  if (bytes < 0 || bytes > memory->second.size) return broken("is shorter than what is said to be in it");
  // The credit goes with the bytes, once they are sent.
  struct Counted {
    std::shared_ptr<const void> credit;
    std::string text;
  };
  const auto copy = std::make_shared<Counted>();
  if (count_) copy->credit = count_(bytes);
  copy->text.resize(static_cast<std::size_t>(bytes));
  for (std::size_t done = 0; done < copy->text.size();) {
    const ssize_t count =
        pread(memory->second.fd.get(), copy->text.data() + done, copy->text.size() - done, static_cast<off_t>(done));
    if (count <= 0) return broken("cannot be read: " + wire::reason_of(errno));
    done += static_cast<std::size_t>(count);
  }
  return wire::Blob(copy, &copy->text);
}

Result<void> FunctionRelay::share(std::int64_t number, std::int64_t memory, const std::string& bytes,
                                  std::vector<wire::Fd>& fds) {
  if (memory <= 0 || static_cast<std::int64_t>(bytes.size()) > memory) return broken("is shorter than what is in it");
  Memory& own = ours_[number];
  if (own.size != memory) {
    own = {wire::Fd(memfd_create("headway-unit", MFD_CLOEXEC)), memory};
    wire::Fd theirs = own.fd.copy();
    if (!theirs.is_open() || ftruncate(own.fd.get(), memory) != 0)
      return broken("cannot be made: " + wire::reason_of(errno));
    fds.push_back(std::move(theirs));
  }
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = pwrite(own.fd.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count <= 0) return broken("cannot be written: " + wire::reason_of(errno));
    done += static_cast<std::size_t>(count);
  }
  return {};
}

/// What the socket's end says, for the other node.
Result<void> FunctionRelay::from_socket(wire::Frame frame) {
  const Result<AnyMessage> message = wire::from_frame<AnyMessage>(frame);
  if (!message) return message.error();
  wire::Frame sent;
  sent.json = std::move(frame.json);
  sent.blob = std::move(frame.blob);
  const auto with_bytes = [&](std::int64_t number, std::int64_t memory, std::int64_t bytes) -> Result<void> {
    if (!frame.fds.empty()) theirs_[number] = {std::move(frame.fds.front()), memory};
    if (bytes == 0) return {};
    Result<wire::Blob> read = bytes_of(number, bytes);
    if (!read) return read.error();
    sent.blob = std::move(*read);
    return {};
  };
  Result<void> taken;
  if (const auto* order = std::get_if<UnitOrder>(&*message)) {
    taken = with_bytes(unit_memory, order->memory, order->bytes);
  } else if (const auto* output = std::get_if<FunctionOutput>(&*message)) {
    for (const std::int64_t slot : output->gone) theirs_.erase(slot);
    taken = with_bytes(output->slot, output->memory, end_of(*output));
  } else if (const auto* done = std::get_if<FunctionDone>(&*message)) {
    for (const std::int64_t slot : done->gone) theirs_.erase(slot);
    if (done->keeps_input) ours_.erase(unit_memory);
    note(false);
  } else if (std::holds_alternative<FunctionFailed>(*message)) {
    note(false);
  }
  if (taken) channel_->send(std::move(sent));
  return taken;
}

/// What the other node says, for the socket's end.
Result<void> FunctionRelay::from_channel(wire::Frame frame) {
  const Result<AnyMessage> message = wire::from_frame<AnyMessage>(frame);
  if (!message) return message.error();
  wire::Frame sent;
  sent.json = std::move(frame.json);
  const auto with_memory = [&](std::int64_t number, std::int64_t memory, std::int64_t bytes) -> Result<void> {
    static const std::string nothing;
    const std::string& came = frame.blob ? *frame.blob : nothing;
    if (static_cast<std::int64_t>(came.size()) != bytes) return broken("came with another number of bytes");
    if (count_ && bytes > largest_) {
      largest_ = bytes;
      expected_.reset();
      expected_ = count_(bytes);
    }
    return bytes == 0 ? Result<void>() : share(number, memory, came, sent.fds);
  };
  Result<void> taken;
  if (const auto* order = std::get_if<UnitOrder>(&*message)) {
    note(true);
    taken = with_memory(unit_memory, order->memory, order->bytes);
  } else if (const auto* output = std::get_if<FunctionOutput>(&*message)) {
    for (const std::int64_t slot : output->gone) ours_.erase(slot);
    taken = with_memory(output->slot, output->memory, end_of(*output));
  } else {
    if (const auto* done = std::get_if<FunctionDone>(&*message)) {
      for (const std::int64_t slot : done->gone) ours_.erase(slot);
      if (done->keeps_input) theirs_.erase(unit_memory);  // Another one comes with the next unit.
    }
    sent.blob = std::move(frame.blob);
  }
  if (taken) socket_->send(std::move(sent));
  return taken;
}

}  // namespace headway::feed
