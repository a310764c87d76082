// SPDX-License-Identifier: BSD-3-Clause
//
// Reading the examined process. Every read can fail and says why; nothing is ever written.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "common/target/result.h"

namespace aotidbg {

class Record;

class Memory {
 public:
  Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  virtual ~Memory() = default;

  // Fills `out` with the bytes at [at, at + out.size()). All or nothing: an error names the first
  // missing range and why it is missing, and `out` is then unspecified.
  virtual Result<void> read(Address at, std::span<std::byte> out) = 0;

  // One trivially copyable value, in the byte order of the process (x86-64: little endian).
  template <class T>
  Result<T> read_value(Address at) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::array<std::byte, sizeof(T)> bytes;
    if (auto done = read(at, bytes); !done) return tl::unexpected(done.error());
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

  Result<Address> read_pointer(Address at) { return read_value<Address>(at); }

  // `size` bytes in one read. Refuses sizes over `limit` bytes instead of allocating them.
  Result<std::vector<std::byte>> read_bytes(Address at, std::uint64_t size,
                                            std::uint64_t limit = kDefaultLimit);

  // A NUL-terminated string of at most `limit` bytes; an unterminated one is an error.
  virtual Result<std::string> read_c_string(Address at, std::size_t limit = 4096);

  // What notes these reads, or noted them before (record.h); null: nothing does.
  virtual Record* record() { return nullptr; }

  static constexpr std::uint64_t kDefaultLimit = 16U << 20;
};

}  // namespace aotidbg
