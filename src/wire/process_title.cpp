// Only the C library: a part of the program headway-guard.
#include "wire/process_title.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace headway::wire {
namespace {

constexpr int last_field = 51;

/// The fields of /proc/self/stat by their numbers in proc(5). False when they cannot be read.
bool read_stat(std::uint64_t (&fields)[last_field + 1]) {
  std::FILE* file = std::fopen("/proc/self/stat", "re");
  if (file == nullptr) return false;
  char text[4096] = "";
  const std::size_t size = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  text[size] = '\0';
  // The second field, a name in brackets, may hold anything; the third is a letter.
  char* at = std::strrchr(text, ')');
  if (at == nullptr || std::strlen(at) < 4) return false;
  at += 3;
  for (int number = 4; number <= last_field; ++number) {
    char* end = nullptr;
    fields[number] = std::strtoull(at, &end, 10);
    if (end == at) return false;
    at = end;
  }
  return true;
}

/// Where the system reads the command line from, kept from one title to the next.
char* memory_for_title(std::size_t size) {
  static char* memory = nullptr;
  if (memory == nullptr) {
    void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped != MAP_FAILED) memory = static_cast<char*>(mapped);
  }
  return memory;
}

}  // namespace

void set_process_title(const char* title, const char* name) {
  prctl(PR_SET_NAME, name);
  constexpr std::size_t title_max = 4096;
  std::uint64_t fields[last_field + 1] = {};
  char* memory = memory_for_title(title_max);
  constexpr int threads_field = 20;
  // What is set below with the title must not change meanwhile.
  if (memory == nullptr || !read_stat(fields) || fields[threads_field] != 1) return;
  std::memset(memory, 0, title_max);
  std::strncpy(memory, title, title_max - 1);
  prctl_mm_map map{};
  map.start_code = fields[26];
  map.end_code = fields[27];
  map.start_stack = fields[28];
  map.start_data = fields[45];
  map.end_data = fields[46];
  map.start_brk = fields[47];
  map.brk = reinterpret_cast<std::uintptr_t>(sbrk(0));
  map.arg_start = reinterpret_cast<std::uintptr_t>(memory);
  map.arg_end = map.arg_start + std::strlen(memory) + 1;
  map.env_start = fields[50];
  map.env_end = fields[51];
  map.exe_fd = static_cast<std::uint32_t>(-1);
  prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0);
}

}  // namespace headway::wire
