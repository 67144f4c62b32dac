#pragma once

#include <string>

/// Where exceptions were thrown. A catch clause sees only what is thrown, since its frames are
/// gone; so the library stands before the C++ runtime's `__cxa_throw` and notes them.
namespace headway::library {

/// From now on every throw of this process is noted as long as the exception lives, even in a
/// std::exception_ptr. Until then one costs nothing but a branch.
void note_throws();

/// The frames from which `object` (the thrown object's address, in an exception that lives) was
/// first thrown, by whatever thread: the innermost first, a line each: function, program or
/// library, offset in it. Those above the caller of the training loop are left out. Empty when they
/// are not known: for what was never thrown (std::make_exception_ptr), and where more than 256
/// exceptions live at once.
std::string throw_trace(const void* object);

}  // namespace headway::library
