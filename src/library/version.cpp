#include <headway/version.hpp>

namespace headway {

const char* version() { return HEADWAY_VERSION; }

}  // namespace headway
