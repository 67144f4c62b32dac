#include "core/literals.hpp"

#include <utility>

namespace headway {
namespace {

Literals& of_this_process() {
  static Literals words;
  return words;
}

}  // namespace

const Literals& literals() { return of_this_process(); }

void set_literals(Literals words) { of_this_process() = std::move(words); }

}  // namespace headway
