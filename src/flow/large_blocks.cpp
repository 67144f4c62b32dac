#include "flow/large_blocks.hpp"

#include "flow/kept_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace headway::flow {
namespace {

constexpr std::int64_t large_min = std::int64_t{32} << 20;

bool is_large(std::int64_t size) { return size >= large_min; }

arrow::Status no_memory(std::int64_t size) {
  return arrow::Status::OutOfMemory("memory of ", size, " bytes cannot be had: ", std::strerror(errno));
}

class LargeBlocks : public arrow::MemoryPool {
 public:
  arrow::Status Allocate(std::int64_t size, std::int64_t alignment, std::uint8_t** out) override {
    if (!is_large(size)) {
      kept_.before(size);
      return small_->Allocate(size, alignment, out);
    }
    void* const block = mmap(nullptr, length(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return no_memory(size);
    *out = static_cast<std::uint8_t*>(block);
    stats_.DidAllocateBytes(size);
    return arrow::Status::OK();
  }

  arrow::Status Reallocate(std::int64_t old_size, std::int64_t new_size, std::int64_t alignment,
                           std::uint8_t** block) override {
    if (!is_large(old_size) && !is_large(new_size)) return small_->Reallocate(old_size, new_size, alignment, block);
    if (is_large(old_size) && is_large(new_size)) {
      void* const moved = mremap(*block, length(old_size), length(new_size), MREMAP_MAYMOVE);
      if (moved == MAP_FAILED) return no_memory(new_size);
      *block = static_cast<std::uint8_t*>(moved);
      stats_.DidReallocateBytes(old_size, new_size);
      return arrow::Status::OK();
    }
    std::uint8_t* other = nullptr;
    ARROW_RETURN_NOT_OK(Allocate(new_size, alignment, &other));
    std::memcpy(other, *block, static_cast<std::size_t>(std::min(old_size, new_size)));
    Free(*block, old_size, alignment);
    *block = other;
    return arrow::Status::OK();
  }

  void Free(std::uint8_t* block, std::int64_t size, std::int64_t alignment) override {
    if (!is_large(size)) return small_->Free(block, size, alignment);
    munmap(block, length(size));
    stats_.DidFreeBytes(size);
  }

  void ReleaseUnused() override { small_->ReleaseUnused(); }
  std::int64_t bytes_allocated() const override { return small_->bytes_allocated() + stats_.bytes_allocated(); }
  std::int64_t total_bytes_allocated() const override {
    return small_->total_bytes_allocated() + stats_.total_bytes_allocated();
  }
  std::int64_t num_allocations() const override { return small_->num_allocations() + stats_.num_allocations(); }
  std::string backend_name() const override { return small_->backend_name(); }

  void keep_within(std::int64_t bytes) { kept_.keep_within(bytes); }

 private:
  static std::size_t length(std::int64_t size) { return static_cast<std::size_t>(size); }

  arrow::MemoryPool* const small_ = arrow::default_memory_pool();
  arrow::internal::MemoryPoolStats stats_;
  KeptMemory kept_{this};
};

LargeBlocks& blocks() {
  static auto* const pool = new LargeBlocks;  // Buffers may outlive static objects.
  return *pool;
}

}  // namespace

arrow::MemoryPool* large_blocks() { return &blocks(); }

void keep_memory_within(std::int64_t bytes) { blocks().keep_within(bytes); }

}  // namespace headway::flow
