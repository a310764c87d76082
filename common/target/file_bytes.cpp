// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/file_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace aotidbg {

namespace {

std::string why_not_opened(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return fmt::format("{} does not exist", path);
    case EACCES:
    case EPERM:
      return fmt::format("{} may not be read by this user", path);
    default:
      return fmt::format("{} cannot be opened: {}", path, std::strerror(error));
  }
}

std::string_view kind_of_file(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISFIFO(mode)) return "a pipe";
  return "no regular file";
}

}  // namespace

Result<OpenFile> open_regular(const std::string& path) {
  OpenFile file;
  // O_NONBLOCK: a FIFO without a writer would block the debugger; no effect on regular files.
  do {
    file.descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  } while (file.descriptor < 0 && errno == EINTR);
  if (file.descriptor < 0) return fail(why_not_opened(path, errno));
  if (::fstat(file.descriptor, &file.status) != 0 || !S_ISREG(file.status.st_mode)) {
    ::close(file.descriptor);
    return fail(fmt::format("{} is {}", path, kind_of_file(file.status.st_mode)));
  }
  return file;
}

ReadBytes read_fully(int descriptor, std::uint64_t offset, std::span<std::byte> out) {
  ReadBytes result;
  while (result.bytes < out.size()) {
    const std::uint64_t next = offset + result.bytes;
    // pread takes at most 0x7ffff000 bytes at once (read(2)); ask for less.
    const std::size_t wanted = std::min<std::size_t>(out.size() - result.bytes, 1U << 30);
    const ssize_t got =
        ::pread(descriptor, out.data() + result.bytes, wanted, static_cast<off_t>(next));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) result.error = errno;
    if (got <= 0) break;
    result.bytes += static_cast<std::size_t>(got);
  }
  return result;
}

Result<std::string> read_text(const std::string& path, std::size_t limit) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return fail(why_not_opened(path, errno));
  std::string text;
  std::array<char, 16384> part;
  ssize_t got = 0;
  while (text.size() < limit) {
    got = ::read(descriptor, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  const int error = got < 0 ? errno : 0;
  ::close(descriptor);
  if (error != 0) return fail(fmt::format("{} cannot be read: {}", path, std::strerror(error)));
  return text;
}

}  // namespace aotidbg
