#include "wire/outbox.hpp"

namespace headway::wire {

Result<void> Outbox::push(Frame frame) {
  if (auto fits = check_frame(frame); !fits) return fits;
  if (json_bytes_ > json_bytes_max || blob_bytes_ > blob_bytes_max) {
    return Error{ErrorKind::unavailable, "the peer takes nothing: " + std::to_string(waiting_.size()) +
                                             " messages of " + std::to_string(json_bytes_ + blob_bytes_) +
                                             " bytes wait for it"};
  }
  const bool shared = !waiting_.empty() && frame.blob == waiting_.back().frame.blob;
  Waiting waiting{std::move(frame), 0, 0};
  waiting.json_bytes = sizeof(FrameHeader) + waiting.frame.json.size() + waiting.frame.inner_json.size();
  waiting.blob_bytes = shared || !waiting.frame.blob ? 0 : waiting.frame.blob->size();
  json_bytes_ += waiting.json_bytes;
  blob_bytes_ += waiting.blob_bytes;
  waiting_.push_back(std::move(waiting));
  return {};
}

Frame Outbox::pop() {
  Waiting next = std::move(waiting_.front());
  waiting_.pop_front();
  json_bytes_ -= next.json_bytes;
  blob_bytes_ -= next.blob_bytes;
  return std::move(next.frame);
}

void Outbox::clear() {
  waiting_.clear();
  json_bytes_ = 0;
  blob_bytes_ = 0;
}

}  // namespace headway::wire
