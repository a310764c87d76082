// SPDX-License-Identifier: BSD-3-Clause
#include "cli/core_stream.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "common/target/core_file.h"
#include "common/target/elf_image.h"
#include "common/target/sparse_file.h"

namespace aotidbg {

namespace {

constexpr std::string_view kName = "the core on standard input";
constexpr std::size_t kChunk = 1U << 20;         // a multiple of the page size, for write_sparse
constexpr std::uint64_t kMostHead = 512U << 20;  // ten thousand threads have a hundred megabytes

// The notes have to be in a file to be read as those of any core.
Result<CoreNotes> parse(std::span<const std::byte> head) {
  const int file = ::memfd_create("aotidbg-head", MFD_CLOEXEC);
  if (file < 0) return fail(fmt::format("memfd_create: {}", std::strerror(errno)));
  const auto close = [](const int* number) { ::close(*number); };
  const std::unique_ptr<const int, decltype(close)> owner(&file, close);
  if (!write_sparse(file, 0, head) || ::ftruncate(file, static_cast<off_t>(head.size())) != 0) {
    return fail(fmt::format("the head of the core cannot be kept: {}", std::strerror(errno)));
  }
  const auto core = CoreFile::open(std::string(kName), fmt::format("/proc/self/fd/{}", file));
  if (!core) return tl::unexpected(core.error());
  return read_core_notes(**core);
}

// Where the notes end, by program headers that `head` holds in full.
std::uint64_t end_of_notes(std::span<const std::byte> head, const Elf64_Ehdr& header) {
  std::uint64_t end = head.size();
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr entry;
    std::memcpy(&entry, head.data() + header.e_phoff + i * sizeof(entry), sizeof(entry));
    if (entry.p_type != PT_NOTE || entry.p_offset > kMostHead || entry.p_filesz > kMostHead)
      continue;
    end = std::max(end, entry.p_offset + entry.p_filesz);
  }
  return end;
}

bool write_to_pipe(int pipe, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(pipe, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

// Short only at the end of the stream.
std::size_t CoreStream::read_more(std::span<std::byte> out) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    const ssize_t got = ::read(descriptor_, out.data() + filled, out.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

Result<void> CoreStream::read_until(std::uint64_t size, Clock::time_point deadline) {
  if (size > kMostHead) {
    return fail(fmt::format("{} claims {} bytes of headers and notes", kName, size));
  }
  while (head_.size() < size) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waits{descriptor_, POLLIN, 0};
    if (left <= 0 || ::poll(&waits, 1, static_cast<int>(std::min<std::int64_t>(left, 1000))) < 0) {
      if (left > 0 && errno == EINTR) continue;
      return fail(fmt::format("{} did not come in time", kName));
    }
    if (waits.revents == 0) continue;
    const std::size_t had = head_.size();
    head_.resize(std::min<std::uint64_t>(size, had + kChunk));
    const ssize_t got = ::read(descriptor_, head_.data() + had, head_.size() - had);
    head_.resize(had + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return fail(fmt::format("{} ends after {} bytes, inside its own headers", kName, had));
    }
  }
  return {};
}

Result<CoreNotes> CoreStream::read_head(Clock::time_point deadline) {
  Elf64_Ehdr header;
  if (auto done = read_until(sizeof(header), deadline); !done) {
    if (head_.empty()) return tl::unexpected(done.error());
    return parse(head_);  // which says what it is instead
  }
  std::memcpy(&header, head_.data(), sizeof(header));
  const bool has_table = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                         header.e_type == ET_CORE && header.e_phentsize == sizeof(Elf64_Phdr) &&
                         header.e_phoff <= kMostHead;
  if (!has_table) return parse(head_);
  if (header.e_phnum == PN_XNUM) {
    return fail(fmt::format("{} has more than 65534 mappings, whose number comes last", kName));
  }
  const std::uint64_t table = header.e_phoff + std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (auto done = read_until(table, deadline); !done) return tl::unexpected(done.error());
  if (auto done = read_until(end_of_notes(head_, header), deadline); !done) {
    return tl::unexpected(done.error());
  }
  return parse(head_);
}

Result<void> CoreStream::copy_to_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return fail(fmt::format("{} cannot be made: {}", path, std::strerror(errno)));
  // Whole pages from the first byte on: what is missing of the head's last page is read first.
  std::vector<std::byte> chunk(page_up(head_.size()) - head_.size());
  chunk.resize(read_more(chunk));
  head_.insert(head_.end(), chunk.begin(), chunk.end());
  bool fine = write_sparse(file, 0, head_);
  std::uint64_t done = head_.size();
  chunk.resize(kChunk);
  for (std::size_t got = kChunk; fine && got == kChunk; done += got) {
    got = read_more(chunk);
    fine = write_sparse(file, done, std::span<const std::byte>(chunk).first(got));
  }
  fine = fine && ::ftruncate(file, static_cast<off_t>(done)) == 0;
  const int error = errno;
  ::close(file);
  if (!fine) return fail(fmt::format("{} could not be written: {}", path, std::strerror(error)));
  return {};
}

Result<void> CoreStream::copy_to_command(std::span<const std::string> words) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail("there is no pipe left");
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    ::dup2(ends[0], STDIN_FILENO);
    ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(ends[0]);
  std::signal(SIGPIPE, SIG_IGN);  // the command may end before the core does
  bool wants_more = child > 0 && write_to_pipe(ends[1], head_);
  std::vector<std::byte> chunk(kChunk);
  while (wants_more) {
    const ssize_t got = ::read(descriptor_, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    wants_more = write_to_pipe(
        ends[1], std::span<const std::byte>(chunk).first(static_cast<std::size_t>(got)));
  }
  ::close(ends[1]);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
    return fail(fmt::format("{} cannot be run", words.front()));
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    return fail(fmt::format("{} ended with {}", words.front(),
                            WIFEXITED(status) ? fmt::format("exit status {}", WEXITSTATUS(status))
                                              : fmt::format("signal {}", WTERMSIG(status))));
  }
  return {};
}

}  // namespace aotidbg
