// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/module_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "common/target/elf_image.h"
#include "common/target/file_bytes.h"

namespace aotidbg {

Result<std::shared_ptr<const ModuleFile>> ModuleFile::open(const std::string& path) {
  // A plain `new`: the constructor is private and make_shared cannot call it.
  std::shared_ptr<ModuleFile> file(new ModuleFile());
  file->path_ = path;
  auto descriptor = open_regular(path);
  if (!descriptor) return tl::unexpected(descriptor.error());
  file->descriptor_ = descriptor->descriptor;
  file->size_ = static_cast<std::uint64_t>(descriptor->status.st_size);
  file->device_ = descriptor->status.st_dev;
  file->inode_ = descriptor->status.st_ino;
  file->modified_ = descriptor->status.st_mtim;
  return file;
}

ModuleFile::~ModuleFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> ModuleFile::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (out.empty()) return {};
  struct stat now{};
  if (::fstat(descriptor_, &now) != 0) {
    return fail(fmt::format("{} cannot be examined: {}", path_, std::strerror(errno)));
  }
  const auto size_now = static_cast<std::uint64_t>(now.st_size);
  const bool shrank = size_now < size_;
  if (!shrank &&
      (now.st_mtim.tv_sec != modified_.tv_sec || now.st_mtim.tv_nsec != modified_.tv_nsec)) {
    return fail(fmt::format("{} was written to while it was read", path_), std::nullopt,
                "run the command again");
  }
  const ReadBytes got = read_fully(descriptor_, offset, out);
  if (got.bytes == out.size()) return {};
  if (got.error != 0) {
    return fail(fmt::format("{} cannot be read at offset {}: {}", path_, offset + got.bytes,
                            std::strerror(got.error)));
  }
  if (shrank) {
    return fail(
        fmt::format("{} shrank from {} to {} bytes while it was read", path_, size_, size_now),
        std::nullopt, "put the file back and run the command again");
  }
  return fail(
      fmt::format("{} has {} bytes and ends before offset {}", path_, size_, offset + out.size()));
}

Result<std::string> ModuleFile::build_id() const {
  const ReadAt reader = [this](std::uint64_t offset, std::span<std::byte> out) {
    return read(offset, out);
  };
  auto image = read_elf_image(reader);
  if (!image) return tl::unexpected(image.error());
  return read_build_id(*image, reader, true);
}

}  // namespace aotidbg
