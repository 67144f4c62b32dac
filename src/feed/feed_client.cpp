#include "feed/feed_client.hpp"

#include "feed/stream_memory.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace headway::feed {
namespace {

constexpr auto looks_while_waiting = std::chrono::seconds(1);
/// A data process that has not answered for so long, such as a stopped one, is spoken for.
constexpr double silence_told_s = 2;
constexpr auto looks_while_asking = std::chrono::milliseconds(200);

Result<std::shared_ptr<Connection>> connect_as(const std::string& address, const Hello& hello) {
  Result<std::shared_ptr<Connection>> connection = Connection::open(address);
  if (!connection) return connection;
  if (Result<void> sent = (*connection)->send(wire::to_frame(hello)); !sent) return sent.error();
  return connection;
}

/// No names end the write, whose failure is `refused` then.
Result<void> name_files(Connection& connection, const NamesWanted& wanted, const Naming& naming,
                        std::optional<Error>& refused) {
  if (!naming) return Error{ErrorKind::corrupted, "the data process asks for names of files"};
  Result<std::vector<std::string>> names = naming(wanted.first, wanted.count);
  Names answer;
  if (names) answer.names = std::move(*names);
  if (!names) refused = names.error();
  return connection.send(wire::to_frame(answer));
}

/// The addresses from the slot to the ring, wherever the two are mapped, and `buffers` as parts of
/// them.
std::span<std::byte> with_ring(std::span<std::byte> slot, const MirroredMemory& ring,
                               std::vector<SlotBuffer>& buffers) {
  const auto less = std::less<std::byte*>();
  // No buffer begins at offset 0, which means that there is none.
  std::byte* const begin = std::min(slot.data(), ring.start(), less) - slot_alignment;
  std::byte* const end = std::max(slot.data() + slot.size(), ring.start() + 2 * ring.bytes(), less);
  for (SlotBuffer& buffer : buffers) {
    if (buffer.offset == 0) continue;
    const bool is_outside = buffer.offset >= slot.size();
    std::byte* const from = is_outside ? ring.start() - slot.size() : slot.data();
    buffer.offset += static_cast<std::uint64_t>(from - begin);
  }
  return {begin, end};
}

}  // namespace

Batch::~Batch() { stream_->release(place_.slot); }

Place Batch::place() const { return {stream_->cursor(), place_}; }

std::string Place::cursor() const {
  Json cursor = *cursor_;
  JsonObject& fields = cursor.get_object();
  fields["epoch"] = batch_.epoch;
  fields["window"] = batch_.window;
  fields["row"] = batch_.row;
  fields["rows_before"] = batch_.rows_before;
  fields["batches"] = batch_.batches;
  return json_text(cursor);
}

Result<std::unique_ptr<Stream>> Stream::open(const std::string& address, const Hello& hello, const Open& open,
                                             wire::Blob blobs) {
  Result<std::shared_ptr<Connection>> connection = connect_as(address, hello);
  if (!connection) return connection.error();
  if (Result<void> sent = (*connection)->send(wire::to_frame(open, std::move(blobs))); !sent) return sent.error();
  auto memory = std::make_shared<StreamMemory>(*connection);
  return std::unique_ptr<Stream>(new Stream(std::move(*connection), std::move(memory)));
}

Stream::~Stream() { close(); }

void Stream::close() { connection_->shut(); }

Result<void> Stream::take(wire::Frame& frame) {
  Result<FromServer> message = wire::from_frame<FromServer>(frame);
  if (!message) return message.error();
  if (auto* const opened = std::get_if<Opened>(&*message)) {
    if (frame.fds.size() < 2) return Error{ErrorKind::corrupted, "the data process sent no memory for batches"};
    frame.fds.resize(3);
    return memory_->use(std::move(*opened), std::move(frame.fds[0]), std::move(frame.fds[1]), frame.fds[2]);
  }
  if (auto* const layout = std::get_if<Layout>(&*message)) {
    const std::uint32_t id = layout->id;
    layouts_[id] = std::make_shared<const KnownLayout>(KnownLayout{std::move(*layout), frame.blob});
  } else if (auto* const end = std::get_if<End>(&*message)) {
    end_ = std::move(*end);
    ended_ = true;
  } else if (auto* const progress = std::get_if<Progress>(&*message)) {
    counters_ = std::move(progress->counters);
    asked_ = false;
    silence_s_ = 0;
  } else if (auto* const failed = std::get_if<Failed>(&*message)) {
    const Error error = error_of(*failed);
    failure_ = std::make_shared<const Failure>(Failure{std::move(*failed), frame.blob});
    return error;
  }
  return {};
}

Result<std::shared_ptr<Batch>> Stream::make(const BatchInSlot& place) {
  const Result<std::span<std::byte>> memory = memory_->slot(place);
  if (!memory) return memory.error();
  const MirroredMemory& ring = memory_->ring();
  Result<SlotView> tables = read_tables(*memory, 2 * ring.bytes());
  if (!tables) return tables.error();
  const std::span<std::byte> whole = ring.bytes() == 0 ? *memory : with_ring(*memory, ring, tables->buffers);
  Result<std::shared_ptr<const KnownLayout>> layout = wait_for_layout(tables->header.layout);
  if (!layout) return layout.error();
  return std::make_shared<Batch>(memory_, place, whole, std::move(*tables), std::move(*layout));
}

/// It is on its way, since it was sent before the batch was dealt.
Result<std::shared_ptr<const KnownLayout>> Stream::wait_for_layout(std::uint32_t id) {
  while (!layouts_.contains(id)) {
    Result<std::optional<wire::Frame>> frame = connection_->receive_until(nullptr, Clock::now() + looks_while_waiting);
    if (!frame) return frame.error();
    if (!*frame) continue;
    if (const Result<void> taken = take(**frame); !taken) return taken.error();
  }
  return layouts_.at(id);
}

Outcome<std::shared_ptr<Batch>> Stream::next(const Interrupted& interrupted, const Progressing& progressing) {
  const Clock::time_point began = Clock::now();
  Outcome<std::shared_ptr<Batch>> batch = wait_for_next(interrupted, progressing);
  last_ = Clock::now();
  if (first_) waited_ += last_ - began;
  if (!first_ && batch.value && *batch.value) first_ = last_;
  look_now_and_then();
  return batch;
}

std::uint64_t Stream::next_bytes() const {
  const TakingEnd* const rings = layouts_.empty() ? nullptr : memory_->rings();
  const std::optional<BatchInSlot> place = rings != nullptr ? rings->peek() : std::nullopt;
  return place ? place->size : 0;
}

RankCounters Stream::waits() const {
  const auto seconds = [](Clock::duration time) { return std::chrono::duration<double>(time).count(); };
  return first_ ? RankCounters{seconds(waited_), seconds(last_ - *first_)} : RankCounters{};
}

/// A process that does not read is not asked again: its socket would be full one day.
void Stream::look() {
  if (!std::exchange(asked_, true)) (void)connection_->send(wire::to_frame(Look{}));
}

/// A data process that does not answer gives no rows: its stages have had no output meanwhile.
void Stream::count_silence(double seconds) {
  silence_s_ += seconds;
  for (StageCounters& stage : counters_.stages) stage.silent_s += seconds;
}

/// More and more seldom: what is asked for last is to be about all of the epoch. Messages that have
/// come are read here too, because a client for which batches are always there waits for none.
void Stream::look_now_and_then() {
  if (ended_ || error_ || last_ < look_at_) return;
  if (look_at_ != Clock::time_point{}) {
    while (!ended_ && !error_) {
      Result<std::optional<wire::Frame>> frame = connection_->receive_until(nullptr, last_);
      if (frame && !*frame) break;
      if (const Result<void> taken = frame ? take(**frame) : Result<void>(frame.error()); !taken)
        error_ = taken.error();
    }
    look();
    look_each_ = std::min<Clock::duration>(2 * look_each_, looks_most);
  }
  look_at_ = last_ + look_each_;
}

Result<std::optional<wire::Frame>> Stream::receive(const Interrupted& interrupted, Clock::time_point& ask) {
  TakingEnd* const rings = layouts_.empty() ? nullptr : memory_->rings();
  if (rings != nullptr && !rings->begin_wait()) {
    rings->end_wait();
    return std::optional<wire::Frame>();
  }
  Result<std::optional<wire::Frame>> frame =
      connection_->receive_until(interrupted, ask, rings != nullptr ? rings->doorbell() : -1);
  if (rings != nullptr) rings->end_wait();
  if (frame && !*frame && Clock::now() >= ask) {
    if (asked_) count_silence(std::chrono::duration<double>(looks_while_waiting).count());
    look();
    ask = Clock::now() + looks_while_waiting;
  }
  return frame;
}

Outcome<std::shared_ptr<Batch>> Stream::wait_for_next(const Interrupted& interrupted, const Progressing& progressing) {
  if (const Result<void> checked = connection_->check_owner(); !checked) return {checked.error(), nullptr};
  Clock::time_point ask = Clock::now() + looks_first;
  std::optional<BatchInSlot> place = take_batch();
  // What was dealt before the end, or before a failure, comes before it.
  for (; !place && !ended_ && !error_; place = take_batch()) {
    Result<std::optional<wire::Frame>> frame = receive(interrupted, ask);
    // An interrupted wait may be resumed.
    if (!frame && frame.error().kind == ErrorKind::aborted) return {frame.error(), nullptr};
    if (frame && !*frame) {
      if (progressing && silence_s_ >= silence_told_s) progressing(counters_);
      continue;
    }
    const Result<void> taken = frame ? take(**frame) : Result<void>(frame.error());
    if (!taken) error_ = taken.error();
    if (!progressing || ended_ || error_) continue;
    progressing(counters_);
    // Before another batch comes, which would be lost.
    if (interrupted && interrupted()) return {Error{ErrorKind::aborted, "interrupted"}, nullptr};
  }
  if (!place && error_) return {*error_, failure_};
  if (!place) return {std::shared_ptr<Batch>(), nullptr};
  Result<std::shared_ptr<Batch>> batch = make(*place);
  if (!batch) error_ = batch.error();
  return {std::move(batch), nullptr};
}

/// The layout was sent before the first batch was dealt, and may come after it.
std::optional<BatchInSlot> Stream::take_batch() {
  TakingEnd* const rings = layouts_.empty() ? nullptr : memory_->rings();
  return rings != nullptr ? rings->take() : std::nullopt;
}

Outcome<Reply> ask(const std::string& address, const Hello& hello, const wire::Frame& question,
                   const Interrupted& interrupted, const Progressing& progressing, const Naming& naming) {
  const Result<std::shared_ptr<Connection>> connection = connect_as(address, hello);
  if (!connection) return {connection.error(), nullptr};
  if (const Result<void> sent = (*connection)->send(question); !sent) return {sent.error(), nullptr};
  bool asked = false;
  std::optional<Error> refused;
  while (true) {
    const auto until = std::chrono::steady_clock::now() + looks_while_asking;
    // A write that is refused names ends at once, and has cleaned up then.
    const Result<std::optional<wire::Frame>> received =
        (*connection)->receive_until(refused ? nullptr : interrupted, until);
    if (!received) return {received.error(), nullptr};
    if (!*received) {
      if (progressing && !std::exchange(asked, true)) (void)(*connection)->send(wire::to_frame(Look{}));
      continue;
    }
    const std::optional<wire::Frame>& frame = *received;
    Result<FromServer> message = wire::from_frame<FromServer>(*frame);
    if (!message) return {message.error(), nullptr};
    if (auto* const answer = std::get_if<Answer>(&*message))
      return {Reply{std::move(answer->value), frame->blob}, nullptr};
    if (const auto* const progress = std::get_if<Progress>(&*message)) {
      asked = false;
      progressing(progress->counters);
    }
    if (const auto* const wanted = std::get_if<NamesWanted>(&*message)) {
      const Result<void> named = name_files(**connection, *wanted, naming, refused);
      if (!named) return {named.error(), nullptr};
    }
    if (auto* const failed = std::get_if<Failed>(&*message)) {
      if (refused) return {*refused, nullptr};
      const Error error = error_of(*failed);
      return {error, std::make_shared<const Failure>(Failure{std::move(*failed), frame->blob})};
    }
  }
}

}  // namespace headway::feed
