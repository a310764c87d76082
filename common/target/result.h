// SPDX-License-Identifier: BSD-3-Clause
//
// Errors are values. A fallible function returns Result<T>: the value, or one sentence that says
// what failed, at which address, and what the reader can do about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace aotidbg {

// An address in the examined process (never in this one).
using Address = std::uint64_t;

struct Error {
  std::string what;           // one sentence, no trailing full stop
  std::optional<Address> at;  // where in the examined process, when there is such a place
  std::string fix;            // what the user can do; empty when nothing helps
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(std::string what, std::optional<Address> at = std::nullopt,
                                  std::string fix = {}) {
  return tl::unexpected<Error>(Error{std::move(what), at, std::move(fix)});
}

}  // namespace aotidbg
