#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace headway::library {

/// A C++ name as one reads it; the text itself when it is none.
std::string demangled(const char* name);

/// A return address as "function(arguments) in program+0x1234". Functions that a program keeps to
/// itself (static ones, those of unnamed namespaces) are looked up in its file's symbol table; what
/// was stripped is named by program and offset alone.
std::string symbol_name(const void* address);

/// The command that prints file and line of those frames that lie in the program's own file, with
/// one line end. The first frame is no return address where `at_place`. Empty: there are none.
std::string source_lines_command(std::span<void* const> frames, bool at_place);

/// Whether the address lies in the program's own file.
bool in_program(const void* address);

/// Whether the address lies in libheadway.so.
bool in_this_library(const void* address);

/// How many of the main thread's frames, the innermost first, are the training loop's: those of
/// ours that called it, and main(), which called those, are at the end. All of them where none is
/// ours.
std::size_t frames_of_loop(std::span<void* const> frames);

}  // namespace headway::library
