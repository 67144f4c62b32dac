#include "wire/spawn.hpp"

namespace headway::wire {

Error error_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const BadResult& bad) {
    return bad.error();
  } catch (const std::exception& exception) {
    return {ErrorKind::internal, std::string("an unexpected exception: ") + exception.what()};
  } catch (...) {
    return {ErrorKind::internal, "an unexpected exception of unknown type"};
  }
}

}  // namespace headway::wire
