#pragma once

namespace headway::library {

/// Ctrl-C while a run is served. The first one asks for the run's end; a second one ends the
/// program at once, as the system does it. A program that handles SIGINT itself is left alone.
/// Several may live at once: all of them hear it.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// Readable once Ctrl-C came, and from then on; -1 when it can't be heard.
  int fd() const;
  /// Whether it came.
  bool came() const;

  /// Ends this process as Ctrl-C does where nobody handles it.
  [[noreturn]] static void end_program();
};

}  // namespace headway::library
