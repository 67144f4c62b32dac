#pragma once

#include <string>

namespace headway {

/// How the front end's language writes "not given", true and false: messages to its users use these
/// words.
struct Literals {
  std::string none = "none";
  std::string yes = "true";
  std::string no = "false";
};

const Literals& literals();

/// To be called before anything else of the process, by a front end whose language has other words.
void set_literals(Literals words);

}  // namespace headway
