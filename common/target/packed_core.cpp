// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/packed_core.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "common/target/file_bytes.h"
#include "common/target/file_kind.h"
#include "common/target/sparse_file.h"
#include "common/target/temporary_folder.h"
#include "common/target/unpacker.h"

namespace aotidbg {

namespace {

// Holds the program headers of any core with up to 65534 of them; more are counted elsewhere.
constexpr std::size_t kChunk = 4U << 20;
constexpr std::uint64_t kLeftFree = 64U << 20;  // of the disk, for whoever else needs it

std::string command_for(Packing packing, const std::string& path) {
  switch (packing) {
    case Packing::zstd:
      return fmt::format("zstd -d --long=31 {}", path);
    case Packing::gzip:
      return fmt::format("gzip -dk {}", path);
    case Packing::lz4:
      return fmt::format("lz4 -d {}", path);
    case Packing::none:
      break;
  }
  return {};
}

int open_nameless(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return descriptor;
  std::string name = folder + "/aotidbg-XXXXXX";
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

// How long the core is by its program headers, when the first chunk holds them.
std::optional<std::uint64_t> claimed_size(std::span<const std::byte> start) {
  Elf64_Ehdr header;
  if (start.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, start.data(), sizeof(header));
  const std::uint64_t table = std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (header.e_phnum == PN_XNUM || header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_phoff > start.size() || start.size() - header.e_phoff < table) {
    return std::nullopt;
  }
  std::uint64_t size = header.e_phoff + table;
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr entry;
    std::memcpy(&entry, start.data() + header.e_phoff + i * sizeof(entry), sizeof(entry));
    std::uint64_t end = 0;
    if (__builtin_add_overflow(entry.p_offset, entry.p_filesz, &end)) return std::nullopt;
    size = std::max(size, end);
  }
  return size;
}

class Unpacking {
 public:
  Unpacking(const std::string& path, Packing packing, int from, int to, std::string folder,
            const std::function<void(std::string_view)>& progress)
      : path_(path),
        packing_(packing),
        unpacker_(Unpacker::make(packing, from)),
        to_(to),
        folder_(std::move(folder)),
        progress_(progress) {}

  Result<void> run() {
    std::vector<std::byte> chunk(kChunk);
    std::uint64_t done = 0;
    std::uint64_t size = std::numeric_limits<std::int64_t>::max();
    while (done < size) {
      const auto room = std::span(chunk).first(std::min<std::uint64_t>(kChunk, size - done));
      const auto got = unpacker_->next(room);
      if (!got) {
        return fail(fmt::format("{} cannot be unpacked: {}", path_, got.error().what), std::nullopt,
                    fmt::format("see what `{}` says", command_for(packing_, path_)));
      }
      if (*got == 0) break;
      const auto part = std::span<const std::byte>(room).first(*got);
      if (done == 0) {
        const auto start = part.first(std::min(kKindBytes, part.size()));
        const std::string name = fmt::format("what {} holds", path_);
        if (auto known = refuse_other_files(name, start); !known) return known;
        size = claimed_size(part).value_or(size);
      }
      if (!write_sparse(to_, done, part)) return not_written(errno);
      done += *got;
      if (is_disk_full()) return not_written(ENOSPC);
      report(done);
    }
    if (done == 0) {
      return fail(fmt::format("{} holds nothing: it is cut short, or of an empty file", path_),
                  std::nullopt,
                  "write the core again with `ulimit -c unlimited` and room on the disk");
    }
    if (::ftruncate(to_, static_cast<off_t>(done)) != 0) return not_written(errno);
    return {};
  }

 private:
  bool is_disk_full() const {
    struct statvfs disk{};
    return ::fstatvfs(to_, &disk) == 0 && std::uint64_t{disk.f_bavail} * disk.f_frsize < kLeftFree;
  }

  Result<void> not_written(int error) const {
    const std::string why =
        error == ENOSPC || error == EDQUOT || error == EFBIG
            ? fmt::format("there is too little room in {}", folder_)
            : fmt::format("{} takes no file: {}", folder_, std::strerror(error));
    return fail(fmt::format("{} cannot be unpacked: {}", path_, why), std::nullopt,
                fmt::format("name a folder with room in TMPDIR, or unpack it yourself: {}",
                            command_for(packing_, path_)));
  }

  void report(std::uint64_t done) {
    const auto now = std::chrono::steady_clock::now();
    if (!progress_ || now - reported_ < std::chrono::seconds(1)) return;
    reported_ = now;
    progress_(fmt::format("unpacking {}: {} MiB", path_, done >> 20));
  }

  const std::string& path_;
  Packing packing_;
  std::unique_ptr<Unpacker> unpacker_;
  int to_;
  std::string folder_;
  const std::function<void(std::string_view)>& progress_;
  std::chrono::steady_clock::time_point reported_ = std::chrono::steady_clock::now();
};

}  // namespace

UnpackedCore::UnpackedCore(UnpackedCore&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), contents_(std::move(other.contents_)) {}

UnpackedCore& UnpackedCore::operator=(UnpackedCore&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(contents_, other.contents_);
  return *this;
}

UnpackedCore::~UnpackedCore() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<UnpackedCore> UnpackedCore::open(const std::string& path,
                                        const std::function<void(std::string_view)>& progress) {
  UnpackedCore core;
  const auto file = open_regular(path);
  if (!file) return core;  // whoever opens the core says why
  UnpackedCore packed;     // closes it
  packed.descriptor_ = file->descriptor;
  std::array<std::byte, kKindBytes> start{};
  const ReadBytes got = read_fully(file->descriptor, 0, start);
  const Packing packing = packing_of(std::span<const std::byte>(start).first(got.bytes));
  if (packing == Packing::none) return core;

  const std::string folder = temporary_folder();
  core.descriptor_ = open_nameless(folder);
  if (core.descriptor_ < 0) {
    return fail(fmt::format("{} cannot be unpacked: {} takes no file: {}", path, folder,
                            std::strerror(errno)),
                std::nullopt,
                fmt::format("name a folder with room in TMPDIR, or unpack it yourself: {}",
                            command_for(packing, path)));
  }
  auto done = Unpacking(path, packing, file->descriptor, core.descriptor_, folder, progress).run();
  if (!done) return tl::unexpected(done.error());
  core.contents_ = fmt::format("/proc/self/fd/{}", core.descriptor_);
  return core;
}

}  // namespace aotidbg
