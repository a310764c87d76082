// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace aotidbg {

// A name, with namespaces (a::b), members (. ->), indices ([3]), and * or & before it: an
// expression of this form can neither assign nor name a function to call.
bool is_variable_path(std::string_view text);

}  // namespace aotidbg
