// SPDX-License-Identifier: BSD-3-Clause
#include "cli/package_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zip.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "common/target/sparse_file.h"
#include "common/target/temporary_folder.h"

namespace aotidbg {

namespace {

constexpr std::size_t kCopied = 1U << 20;  // a multiple of the page size, for write_sparse

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Member = std::unique_ptr<zip_file_t, Discard>;

// True when all of the member is in the new file.
bool extract(zip_t& archive, zip_uint64_t index, const std::string& path, std::string& problem) {
  const Member member(zip_fopen_index(&archive, index, 0));
  const int out = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool fine = member != nullptr && out >= 0;
  if (!fine) problem = out < 0 ? std::strerror(errno) : zip_strerror(&archive);
  std::vector<std::byte> chunk(kCopied);
  std::uint64_t done = 0;
  for (zip_int64_t got = 1; fine && got > 0;) {
    std::size_t filled = 0;  // zip_fread may give less than asked; only the last chunk is short
    while (filled < kCopied &&
           (got = zip_fread(member.get(), chunk.data() + filled, kCopied - filled)) > 0) {
      filled += static_cast<std::size_t>(got);
    }
    if (got < 0) {
      problem = zip_file_strerror(member.get());
      fine = false;
    } else if (!write_sparse(out, done, std::span<const std::byte>(chunk).first(filled))) {
      problem = std::strerror(errno);
      fine = false;
    }
    done += filled;
  }
  if (fine && ::ftruncate(out, static_cast<off_t>(done)) != 0) {
    problem = std::strerror(errno);
    fine = false;
  }
  if (out >= 0) ::close(out);
  return fine;
}

}  // namespace

PackageFolder::PackageFolder(PackageFolder&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, false)) {}

PackageFolder::~PackageFolder() {
  std::error_code ignored;
  if (temporary_) std::filesystem::remove_all(path_, ignored);
}

Result<PackageFolder> PackageFolder::open(const std::string& path) {
  PackageFolder folder;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    folder.path_ = path;  // a folder, or nothing: whoever looks through it says so
    return folder;
  }
  int problem = 0;
  const Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &problem));
  if (archive == nullptr) {
    return fail(fmt::format("--package {} is no package: it is no zip archive", path), std::nullopt,
                "give the .pt2 file, or the folder that it was extracted to");
  }
  folder.path_ = temporary_folder() + "/aotidbg-package-XXXXXX";
  if (::mkdtemp(folder.path_.data()) == nullptr) {
    return fail(fmt::format("--package {} cannot be unpacked: {} takes no folder: {}", path,
                            temporary_folder(), std::strerror(errno)),
                std::nullopt, "name a folder with room in TMPDIR");
  }
  folder.temporary_ = true;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<zip_uint64_t>(i);
    const char* name = zip_get_name(archive.get(), index, 0);
    if (name == nullptr || !std::string_view(name).ends_with(".so")) continue;
    // By number: what a member is called must not lead out of the folder.
    const std::string place =
        fmt::format("{}/{}-{}", folder.path_, i, std::filesystem::path(name).filename().string());
    std::string why;
    if (!extract(*archive, index, place, why)) {
      return fail(fmt::format("--package {} cannot be unpacked: {}: {}", path, name, why),
                  std::nullopt, "name a folder with room in TMPDIR, or give the extracted package");
    }
  }
  return folder;
}

}  // namespace aotidbg
