#pragma once

#include "wire/frame.hpp"
#include "wire/session_messages.hpp"

#include <string>

/// Texts as messages: orders to workers of node_test_factory, and what these say.
namespace headway::node {

inline wire::Frame order_of(const std::string& text) { return wire::to_frame(wire::CheckpointStored{0, text}); }

inline std::string order_in(const wire::Frame& frame) {
  const auto message = wire::from_frame<wire::ToWorker>(frame);
  const auto* order = message ? std::get_if<wire::CheckpointStored>(&*message) : nullptr;
  return order != nullptr ? order->checkpoint : "";
}

inline wire::Frame words_of(const std::string& text) { return wire::to_frame(wire::StacksTold{0, text}); }

inline std::string words_in(const wire::Frame& frame) {
  const auto message = wire::from_frame<wire::FromWorker>(frame);
  const auto* words = message ? std::get_if<wire::StacksTold>(&*message) : nullptr;
  return words != nullptr ? words->text : "";
}

}  // namespace headway::node
