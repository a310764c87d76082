// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/sparse_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/target/elf_image.h"

namespace aotidbg {

namespace {

std::span<const std::byte> first_page(std::span<const std::byte> bytes) {
  return bytes.first(std::min<std::size_t>(kPageSize, bytes.size()));
}

bool is_zero(std::span<const std::byte> bytes) {
  return bytes.front() == std::byte{0} &&
         std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

bool write_all(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

bool write_sparse(int descriptor, std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    std::size_t run = 0;
    while (run < bytes.size() && !is_zero(first_page(bytes.subspan(run)))) {
      run += first_page(bytes.subspan(run)).size();
    }
    if (!write_all(descriptor, offset, bytes.first(run))) return false;
    if (run < bytes.size()) run += first_page(bytes.subspan(run)).size();  // a page of zeros
    offset += run;
    bytes = bytes.subspan(run);
  }
  return true;
}

}  // namespace aotidbg
