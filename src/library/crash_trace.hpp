#pragma once

namespace headway::library {

/// From now on a crash of this process (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT) writes the frames
/// of the thread that crashed to stderr, and then ends the process as it would have ended. A signal
/// that somebody handles already is left alone.
void tell_crashes();

}  // namespace headway::library
