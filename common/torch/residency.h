// SPDX-License-Identifier: BSD-3-Clause
//
// Where an address really lies, told by what is mapped there.
#pragma once

#include <string>

#include "common/target/target.h"

namespace aotidbg {

struct Place {
  enum class Kind { host, file, unmapped, guard, null } kind = Kind::host;
  std::string where;  // for people: heap, stack, wrapper.so, the mapping's name
};

Place place_of(const Target& target, Address at);

// True when every byte of [at, at + size) lies in readable mappings.
bool is_readable(const Target& target, Address at, std::uint64_t size);

}  // namespace aotidbg
