#pragma once

#include "core/json.hpp"

#include <string>
#include <string_view>

/// What looks like a secret is not shown: a page is looked at by more people than a log.
namespace headway::dashboard {

/// Whether a name is one of a secret: it ends in "token", "secret", "password", "api_key" and the
/// like.
bool is_secret_name(std::string_view name);

/// Replaces texts under such names, at any depth.
void mask_secrets(Json& json);

/// Replaces values behind such names in text: `AWS_SECRET_ACCESS_KEY=...`, `"token": "..."`.
/// Numbers stay.
std::string mask_secrets(std::string text);

}  // namespace headway::dashboard
