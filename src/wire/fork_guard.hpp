#pragma once

/// Descriptors that must not live on in children of this process: a data loader's fork that kept a
/// dead rank's socket open would hide its death. Close-on-exec covers exec; an at-fork handler
/// closes these in children that never exec.
namespace headway::wire {

/// From now on `fd` is closed in every forked child. Thread-safe; at most 65 536 descriptors at a
/// time (beyond: ignored).
void drop_in_children(int fd);

/// The descriptor is about to be closed or handed on: children may have the number for something
/// else.
void keep_in_children(int fd);

}  // namespace headway::wire
