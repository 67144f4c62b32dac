#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

/// How much a message may hold. Control messages are small; a message struct that may hold more
/// says so by a static `bounds`. Both ends of a channel check it, the reader before it reads the
/// raw part.
namespace headway::wire {

inline constexpr std::uint32_t json_size_max = 256u << 20;
inline constexpr std::uint64_t blob_size_max = 16ull << 30;
inline constexpr std::uint32_t fd_count_max = 8;

struct FrameBounds {
  std::uint64_t json_max = 0;
  std::uint64_t blob_max = 0;
  std::uint32_t fds_max = 0;
};

/// What a message without `bounds` may hold: numbers, names, a reason.
inline constexpr FrameBounds control_bounds{1 << 20, 0, 0};
/// Texts or values of the user's in the JSON.
inline constexpr FrameBounds user_values{json_size_max, 0, 0};
/// A pickle of the user's in the raw part as well.
inline constexpr FrameBounds user_bytes{json_size_max, blob_size_max, 0};
/// Text in the raw part.
inline constexpr FrameBounds raw_text{1 << 20, 64 << 20, 0};
/// Another message in the raw part.
inline constexpr FrameBounds enclosed_message{json_size_max, json_size_max + blob_size_max, 0};
inline constexpr FrameBounds unbounded{json_size_max, json_size_max + blob_size_max, fd_count_max};

/// Descriptors, and environment variables in the JSON.
constexpr FrameBounds with_fds(std::uint32_t fds_max) { return {16 << 20, 0, fds_max}; }

template <class M>
constexpr FrameBounds bounds_of() {
  if constexpr (requires { M::bounds; }) {
    return M::bounds;
  } else {
    return control_bounds;
  }
}

/// One kind of message that a channel carries.
struct Carried {
  std::string_view is;
  FrameBounds bounds;
};

template <class Variant, std::size_t... I>
constexpr std::array<Carried, sizeof...(I)> carried_in(std::index_sequence<I...>) {
  return {Carried{std::variant_alternative_t<I, Variant>::is, bounds_of<std::variant_alternative_t<I, Variant>>()}...};
}

/// All messages of `Variant`, with their bounds.
template <class Variant>
inline constexpr auto messages_of = carried_in<Variant>(std::make_index_sequence<std::variant_size_v<Variant>>());

}  // namespace headway::wire
