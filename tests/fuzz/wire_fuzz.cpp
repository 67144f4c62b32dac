/// Bytes that no peer of ours would send, for all that reads what peers send: frames, the parts of
/// a TLS connection, and every message of every set. Valid bytes are mutated by a generator with a
/// seed, so that a failure comes again.
///
/// wire_fuzz [FIRST_SEED [SEEDS]]
///
/// Built with HEADWAY_LIBFUZZER (clang's -fsanitize=fuzzer) it takes its bytes from libFuzzer
/// instead.
#include "cluster/agent_messages.hpp"
#include "cluster/part_reader.hpp"
#include "wire/factory_messages.hpp"
#include "wire/frame_reader.hpp"
#include "wire/guest_messages.hpp"
#include "wire/session_messages.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace headway {
namespace {

using wire::Frame;

/// What came out whole: too little of it, and the mutations are too wild to find anything.
struct Counts {
  long frames = 0;
  long messages = 0;
} counts;

/// Ends the program: what must hold whatever comes does not.
void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wire_fuzz: %s\n", what);
  std::abort();
}

/// Gives the reader all bytes, in pieces of several lengths; what it says of each frame is checked
/// by `heard`.
template <class Reader>
void feed(Reader reader, std::string_view bytes, const std::function<void(const Frame&)>& heard) {
  std::size_t come = 0;
  for (std::size_t piece = 1; !bytes.empty(); piece = piece * 7 % 4099) {
    const std::span<char> space = reader.space();
    require(!space.empty(), "a reader has no space");
    require(space.size() <= std::max<std::size_t>(come, 64 << 10), "memory grows by what a header claims");
    const std::size_t count = std::min({space.size(), bytes.size(), piece});
    std::copy_n(bytes.begin(), count, space.begin());
    bytes.remove_prefix(count);
    come += count;
    const auto frame = reader.take(count);
    if (!frame) {
      require(!frame.error().message.empty(), "an error has no words");
      return;
    }
    if (*frame) heard(**frame);
  }
}

template <class Set>
void read_set(std::string_view bytes) {
  feed(wire::FrameReader(wire::messages_of<Set>), bytes, [](const Frame& frame) {
    const auto message = wire::from_frame<Set>(frame);
    require(message || !message.error().message.empty(), "an error has no words");
    ++counts.frames;
    counts.messages += message.has_value() ? 1 : 0;
    if constexpr (std::is_same_v<Set, wire::FromWorker> || std::is_same_v<Set, wire::ToHost>) {
      if (message) (void)wire::check_message(*message);
    }
    // The text alone, as a message within another one comes.
    (void)wire::from_frame<wire::ToWorker>(frame);
  });
}

template <class Set>
void read_parts(std::string_view bytes, bool trusted) {
  cluster::PartReader reader(wire::messages_of<Set>);
  if (trusted) reader.trust();
  feed(std::move(reader), bytes, [trusted](const Frame& frame) {
    require(
        trusted || frame.json.size() + (frame.blob ? frame.blob->size() : 0) <= cluster::PartReader::stranger_bytes_max,
        "a stranger gets memory");
    const auto message = wire::from_frame<Set>(frame);
    ++counts.frames;
    if (!message) return;
    ++counts.messages;
    std::visit(
        [&](const auto& what) {
          (void)cluster::check_message(what);
          if constexpr (requires { what.json_size; }) (void)cluster::inner_frame(what.json_size, frame.blob);
        },
        *message);
  });
}

void read_all(std::string_view bytes) {
  read_set<wire::ToWorker>(bytes);
  read_set<wire::FromWorker>(bytes);
  read_set<wire::ToFactory>(bytes);
  read_set<wire::FromFactory>(bytes);
  read_set<wire::ToHost>(bytes);
  read_set<wire::FromHost>(bytes);
  for (const bool trusted : {false, true}) {
    read_parts<cluster::ToAgent>(bytes, trusted);
    read_parts<cluster::FromAgent>(bytes, trusted);
  }
}

std::string bytes_of(const Frame& frame) { return wire::head_of(frame) + (frame.blob ? *frame.blob : ""); }

std::string in_part(const std::string& bytes, std::uint32_t ahead) {
  const cluster::PartHeader part{static_cast<std::uint32_t>(bytes.size()), ahead};
  return std::string(reinterpret_cast<const char*>(&part), sizeof(part)) + bytes;
}

template <class Set, std::size_t... I>
void add_set(std::vector<std::string>& corpus, bool in_parts, std::index_sequence<I...>) {
  const auto add = [&]<class M>(const M& message) {
    const bool raw = wire::bounds_of<M>().blob_max > 0;
    const std::string bytes = bytes_of(wire::to_frame(message, raw ? std::make_shared<std::string>("raw") : nullptr));
    corpus.push_back(bytes);
    if (in_parts) corpus.push_back(in_part(bytes, corpus.size() % 2));
  };
  (add(std::variant_alternative_t<I, Set>{}), ...);
}

/// One message of every kind, and some with something in them.
std::vector<std::string> valid_bytes() {
  std::vector<std::string> corpus;
  const auto add = [&]<class Set>(const Set*, bool in_parts) {
    add_set<Set>(corpus, in_parts, std::make_index_sequence<std::variant_size_v<Set>>());
  };
  add(static_cast<wire::ToWorker*>(nullptr), false);
  add(static_cast<wire::FromWorker*>(nullptr), false);
  add(static_cast<wire::ToFactory*>(nullptr), false);
  add(static_cast<wire::FromFactory*>(nullptr), false);
  add(static_cast<wire::ToHost*>(nullptr), false);
  add(static_cast<wire::FromHost*>(nullptr), false);
  add(static_cast<cluster::ToAgent*>(nullptr), true);
  add(static_cast<cluster::FromAgent*>(nullptr), true);
  wire::Reported reported{3, {{"loss", 0.5}, {"nested", {{"list", {1, 2.5, nullptr}}}}}, CheckpointOffer{}, {}};
  reported.checkpoint->files = {{"model.pt", 7, "xxh3:0123456789abcdef", 1}};
  corpus.push_back(bytes_of(wire::to_frame(reported)));
  corpus.push_back(bytes_of(wire::to_frame(wire::Uploaded{3, {{"a/b", 1, "", 0}}, {}, "checkpoint_000001", false})));
  corpus.push_back(in_part(bytes_of(cluster::enclose(cluster::WorkerTold{1, 0}, wire::to_frame(reported))), 0));
  cluster::Join join{"1", "proof", "host", {{"CPU", 4}}, {"0", "1"}, {{"zone", "a"}}};
  corpus.push_back(in_part(bytes_of(wire::to_frame(join)), 0));
  return corpus;
}

/// Changes a few places, each as a broken or a hostile peer might.
std::string mutated(std::string bytes, std::mt19937_64& chance) {
  static const std::vector<std::string> words = {"null",
                                                 "-1",
                                                 "1e308",
                                                 "NaN",
                                                 "\"\"",
                                                 "[]",
                                                 "{}",
                                                 "\"../x\"",
                                                 "99999999999999999999",
                                                 "true",
                                                 std::string(8, '\xff'),
                                                 std::string(4, '\0'),
                                                 std::string("\x00\x00\x00\x40\x00\x00\x00\x00", 8)};
  const auto below = [&](std::size_t end) {
    return static_cast<std::size_t>(chance() % std::max<std::size_t>(end, 1));
  };
  for (std::size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
    const std::size_t place = below(bytes.size());
    const std::size_t length = std::min(1 + below(16), bytes.size() - place);
    switch (below(6)) {
      case 0: bytes[place] = static_cast<char>(bytes[place] ^ (1 << below(8))); break;
      case 1: bytes[place] = static_cast<char>(chance()); break;
      case 2: bytes.erase(place, length); break;
      case 3: bytes.insert(place, bytes.substr(place, length)); break;
      case 4: bytes.replace(place, length, words[below(words.size())]); break;
      default: bytes.resize(place); break;
    }
  }
  return bytes;
}

/// Some seeds join several messages, of which any may be whole.
std::string bytes_of_seed(const std::vector<std::string>& corpus, std::uint64_t seed) {
  std::mt19937_64 chance(seed);
  std::string bytes;
  for (std::size_t count = 1 + chance() % 3; count > 0; --count) bytes += corpus[chance() % corpus.size()];
  return mutated(std::move(bytes), chance);
}

}  // namespace
}  // namespace headway

#ifdef HEADWAY_LIBFUZZER
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  headway::read_all({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
#else
int main(int argc, char** argv) {
  const std::uint64_t first = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const std::uint64_t seeds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100'000;
  const std::vector<std::string> corpus = headway::valid_bytes();
  for (const std::string& bytes : corpus) headway::read_all(bytes);
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    headway::read_all(headway::bytes_of_seed(corpus, seed));
  }
  std::printf("wire_fuzz: %llu seeds, %ld frames, %ld messages\n", static_cast<unsigned long long>(seeds),
              headway::counts.frames, headway::counts.messages);
  return 0;
}
#endif
