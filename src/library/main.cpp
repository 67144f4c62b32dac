#include <headway/main.hpp>

#include "library/program.hpp"

namespace headway {

Main::Main(int argc, char** argv) : first_(library::enter_program(argc, argv)) {}

Main::~Main() {
  if (first_) library::leave_program();
}

}  // namespace headway
