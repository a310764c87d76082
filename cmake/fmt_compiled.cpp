// SPDX-License-Identifier: BSD-3-Clause
//
// fmt's non-template half, compiled once from fmt's own headers. Header-only mode would compile it
// into every file of the project, which triples the time of a build; Debian's libfmt is a shared
// C++ library, which a plugin must not bring into a debugger.
#include <fmt/format-inl.h>

#include <string_view>

// What fmt/core.h and fmt/format.h declare extern for char, as far as this project formats.
namespace fmt::inline v9::detail {
template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
template thousands_sep_result<char> thousands_sep_impl(locale_ref);
template char decimal_point_impl(locale_ref);
template void buffer<char>::append(const char*, const char*);
template void vformat_to(buffer<char>&, string_view, basic_format_args<FMT_BUFFER_CONTEXT(char)>,
                         locale_ref);
}  // namespace fmt::inline v9::detail
