#include <headway/callback.hpp>

namespace headway {

Callback::~Callback() = default;

void Callback::after_report(const std::vector<Json>&, const std::optional<Checkpoint>&) {}

void Callback::after_exception(const std::map<int, std::string>&) {}

}  // namespace headway
