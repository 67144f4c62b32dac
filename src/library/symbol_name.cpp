#include "library/symbol_name.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <memory>
#include <span>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headway::library {
namespace {

/// A file's bytes, mapped for reading; none when it can't be.
class MappedFile {
 public:
  explicit MappedFile(const char* path) {
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat found{};
    if (fd < 0) return;
    if (fstat(fd, &found) == 0 && found.st_size > 0) {
      size_ = static_cast<std::size_t>(found.st_size);
      void* mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
      if (mapped != MAP_FAILED) bytes_ = static_cast<const char*>(mapped);
    }
    close(fd);
  }
  ~MappedFile() {
    if (bytes_ != nullptr) munmap(const_cast<char*>(bytes_), size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// `count` objects at `offset`; empty where the file does not hold them.
  template <class T>
  std::span<const T> at(std::uint64_t offset, std::uint64_t count) const {
    if (bytes_ == nullptr || offset > size_ || count > (size_ - offset) / sizeof(T) || offset % alignof(T) != 0)
      return {};
    return {reinterpret_cast<const T*>(bytes_ + offset), static_cast<std::size_t>(count)};
  }

 private:
  const char* bytes_ = nullptr;
  std::size_t size_ = 0;
};

using Section = ElfW(Shdr);
using Symbol = ElfW(Sym);

/// The function of an ELF file's symbol table that holds `offset`; "" when there is none.
std::string in_symbol_table(const MappedFile& file, std::uint64_t offset) {
  const auto header = file.at<ElfW(Ehdr)>(0, 1);
  if (header.empty()) return "";
  const auto sections = file.at<Section>(header[0].e_shoff, header[0].e_shnum);
  for (const Section& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Section& names = sections[section.sh_link];
    const auto text = file.at<char>(names.sh_offset, names.sh_size);
    for (const Symbol& symbol : file.at<Symbol>(section.sh_offset, section.sh_size / sizeof(Symbol))) {
      const bool holds = offset >= symbol.st_value && offset < symbol.st_value + symbol.st_size;
      if ((symbol.st_info & 0xF) != STT_FUNC || !holds || symbol.st_name >= text.size()) continue;
      return text.data() + symbol.st_name;
    }
  }
  return "";
}

std::string hexadecimal(std::uint64_t number) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(number));
  return text.data();
}

/// Where the program lies; a worker that was started by exec knows itself by a link alone.
std::string program_path(const char* known_as) {
  std::array<char, 4096> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : known_as;
}

/// Where a loaded file lies in memory, and what the linker calls it.
struct Loaded {
  Dl_info info{};
  link_map* map = nullptr;

  explicit operator bool() const { return map != nullptr; }
  /// The program's own entry has no name.
  bool is_program() const { return map->l_name == nullptr || *map->l_name == '\0'; }
  std::uint64_t offset_of(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - static_cast<std::uintptr_t>(map->l_addr);
  }
};

Loaded loaded_at(const void* address) {
  Loaded found;
  if (dladdr1(address, &found.info, reinterpret_cast<void**>(&found.map), RTLD_DL_LINKMAP) == 0) found.map = nullptr;
  return found;
}

}  // namespace

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                        std::free);
  return status == 0 && readable ? readable.get() : name;
}

bool in_this_library(const void* address) {
  Dl_info own{};
  Dl_info other{};
  static const int anchor = 0;
  return dladdr(&anchor, &own) != 0 && dladdr(address, &other) != 0 && own.dli_fbase == other.dli_fbase;
}

std::size_t frames_of_loop(std::span<void* const> frames) {
  std::size_t end = frames.size();
  while (end > 0 && !in_this_library(frames[end - 1])) --end;
  while (end > 0 && in_this_library(frames[end - 1])) --end;
  return end == 0 ? frames.size() : end;
}

std::string symbol_name(const void* address) {
  // A return address is that of the next instruction, which may belong to the next function.
  const auto* call = static_cast<const char*>(address) - 1;
  const Loaded found = loaded_at(call);
  if (!found) return hexadecimal(reinterpret_cast<std::uintptr_t>(call));
  const std::uint64_t offset = found.offset_of(call);
  const char* known_as = found.info.dli_fname;
  // The program's file may have been removed; the link still leads to it.
  const MappedFile file(found.is_program() ? "/proc/self/exe" : found.map->l_name);
  std::string name = in_symbol_table(file, offset);
  if (name.empty() && found.info.dli_sname != nullptr) name = found.info.dli_sname;
  const std::string place = (found.is_program() ? program_path(known_as) : known_as) + "+" + hexadecimal(offset);
  return name.empty() ? place : demangled(name.c_str()) + " in " + place;
}

bool in_program(const void* address) {
  const Loaded found = loaded_at(address);
  return found && found.is_program();
}

std::string source_lines_command(std::span<void* const> frames, bool at_place) {
  std::string offsets;
  std::string program;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const char* call = static_cast<const char*>(frames[i]) - (at_place && i == 0 ? 0 : 1);
    const Loaded found = loaded_at(call);
    if (!found || !found.is_program()) continue;
    program = program_path(found.info.dli_fname);
    offsets += " " + hexadecimal(found.offset_of(call));
  }
  if (offsets.empty()) return "";
  return "Files and lines, if the program was compiled with -g: addr2line -Cfpie " + program + offsets + "\n";
}

}  // namespace headway::library
