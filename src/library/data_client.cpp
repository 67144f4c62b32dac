#include "library/data_client.hpp"

#include "core/json.hpp"
#include "data/flow_text.hpp"
#include "data/plan.hpp"
#include "data/plan_identity.hpp"
#include "feed/feed_client.hpp"
#include "library/data_program.hpp"
#include "library/data_waits.hpp"
#include "library/slot_columns.hpp"

#include <charconv>
#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

namespace headway::library {
namespace {

/// Once for each data set of a training, by its first rank.
void say_dropped(const std::string& name, std::int64_t rows, int world_size) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (!said.insert(name).second) return;
  std::fprintf(stderr, "headway: %s\n", data::dropped_text(name, rows, world_size).c_str());
}

class OpenedStream : public DataStream {
 public:
  /// `on_dropped`: called with the number of last rows that no rank got. May be unset.
  OpenedStream(std::unique_ptr<feed::Stream> stream, DataWaits* waits, std::function<void(std::int64_t)> on_dropped)
      : stream_(std::move(stream)), waits_(waits), on_dropped_(std::move(on_dropped)) {}
  ~OpenedStream() override {
    end_epoch();
    stream_->close();
  }

  Result<std::optional<Taken>> next() override {
    feed::Progressing progressing = nullptr;
    if (waits_ != nullptr) {
      waits_->begin();
      progressing = [this](const FlowCounters& flow) { waits_->lasts(flow); };
    }
    const feed::Outcome<std::shared_ptr<feed::Batch>> taken = stream_->next(nullptr, progressing);
    if (taken.failure) return taken.value.error();
    if (!taken.value) return in_words_of_data_process(taken.value.error());
    if (*taken.value == nullptr) {
      if (on_dropped_ && stream_->end().dropped > 0) on_dropped_(stream_->end().dropped);
      end_epoch();
      return std::optional<Taken>();
    }
    if (waits_ != nullptr) waits_->end(*stream_);
    return std::optional<Taken>(
        Taken{as_columns(*taken.value), [place = (*taken.value)->place()] { return place.cursor(); }});
  }

 private:
  /// Once.
  void end_epoch() {
    if (DataWaits* waits = std::exchange(waits_, nullptr)) waits->end_epoch(*stream_);
  }

  std::unique_ptr<feed::Stream> stream_;
  DataWaits* waits_;
  const std::function<void(std::int64_t)> on_dropped_;
};

Result<feed::Reply> answer_to(const wire::Frame& question) {
  const Result<DataAddress> process = data_process();
  if (!process) return process.error();
  feed::Outcome<feed::Reply> reply = feed::ask(process->address, process->hello, question, nullptr);
  if (reply.failure || reply.value) return std::move(reply.value);
  return in_words_of_data_process(reply.value.error());
}

}  // namespace

Result<void> check_data_plan(const std::string& plan_json) {
  const Result<data::Plan> plan = data::plan_from_text(plan_json, 0);
  if (!plan) return plan.error();
  return {};
}

Result<std::string> ask_data(const std::string& what, const std::string& plan_json) {
  Result<Json> plan = parse_json(plan_json, "a plan");
  if (!plan) return plan.error();
  const Result<feed::Reply> reply = answer_to(wire::to_frame(feed::Ask{what, std::move(*plan), {}}, nullptr));
  if (!reply) return reply.error();
  return json_text(reply->value);
}

Result<void> run_data(const std::string& plan_json) {
  Result<Json> plan = parse_json(plan_json, "a plan");
  if (!plan) return plan.error();
  const Result<feed::Reply> reply = answer_to(wire::to_frame(feed::Run{std::move(*plan), {}}, nullptr));
  if (!reply) return reply.error();
  return {};
}

std::uint64_t seed_of(const std::string& text) {
  constexpr int hex = 16;
  constexpr std::size_t digits = 15;
  const std::string digest = data::digest_of(text);
  const std::string number = digest.substr(digest.size() - digits);
  std::uint64_t seed = 0;
  std::from_chars(number.data(), number.data() + number.size(), seed, hex);
  return seed;
}

Result<std::unique_ptr<DataStream>> open_data(const std::string& plan_json, const std::string& consumption_json,
                                              const std::string& name) {
  const Result<DataAddress> process = data_process();
  if (!process) return process.error();
  Result<Json> plan = parse_json(plan_json, "a plan");
  if (!plan) return plan.error();
  Result<feed::Consumption> consumption = from_json_text<feed::Consumption>(consumption_json, "how rows are cut");
  if (!consumption) return consumption.error();
  std::function<void(std::int64_t)> on_dropped;
  if (!name.empty() && consumption->rank == 0 && !consumption->drop_last) {
    on_dropped = [name, world = consumption->world_size](std::int64_t rows) { say_dropped(name, rows, world); };
  }
  const feed::Open open{std::move(*plan), std::move(*consumption), {}};
  auto stream = feed::Stream::open(process->address, process->hello, open, nullptr);
  if (!stream) return in_words_of_data_process(stream.error());
  DataWaits* waits = name.empty() ? nullptr : &DataWaits::of(name);
  return std::unique_ptr<DataStream>(std::make_unique<OpenedStream>(std::move(*stream), waits, std::move(on_dropped)));
}

}  // namespace headway::library
