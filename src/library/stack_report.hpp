#pragma once

#include <string>

namespace headway::library {

/// From now on `stacks_of_threads` can ask this process's threads, by a signal (SIGURG, which
/// nothing else sends; a program that handles it is left alone).
void prepare_stacks();

/// What the threads of this process are doing, in lines for the user: each one's name and its
/// frames, the innermost first. The frames that called the training loop are left out, as are
/// Headway's own threads. At most 6 threads (the main one first) of 40 frames. Threads are
/// interrupted for a moment; one that gives no answer within a second is named as such.
std::string stacks_of_threads();

}  // namespace headway::library
