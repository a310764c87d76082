// SPDX-License-Identifier: BSD-3-Clause
#include "common/commands/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <system_error>

namespace aotidbg {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }
  bool open() const { return number_ >= 0; }

  // Closes now: some file systems report a failed write only then.
  bool close() {
    const int number = number_;
    number_ = -1;
    return ::close(number) == 0;
  }

 private:
  int number_;
};

tl::unexpected<Error> cannot_write(const std::string& path, int problem) {
  return fail(fmt::format("cannot write '{}': {}", path, std::generic_category().message(problem)));
}

tl::unexpected<Error> is_there(const std::string& path) {
  return fail(fmt::format("'{}' exists and was left as it is", path), std::nullopt,
              "give --force to replace it");
}

// 0, or the errno of what went wrong.
int write_all(Descriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return file.close() ? 0 : errno;
}

Result<void> write_new(const std::string& path, std::string_view text) {
  constexpr mode_t kMode = 0666;  // less the user's umask
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode));
  if (!file.open()) return errno == EEXIST ? is_there(path) : cannot_write(path, errno);
  if (const int problem = write_all(file, text); problem != 0) {
    ::unlink(path.c_str());
    return cannot_write(path, problem);
  }
  return {};
}

// Beside the file, then over it: a reader sees the old text or the new one.
Result<void> write_over(const std::string& path, std::string_view text, mode_t mode) {
  std::string beside = path + ".XXXXXX";
  Descriptor file(::mkostemp(beside.data(), O_CLOEXEC));
  if (!file.open()) return cannot_write(path, errno);
  int problem = ::fchmod(file.get(), mode) == 0 ? 0 : errno;
  if (problem == 0) problem = write_all(file, text);
  if (problem == 0 && ::rename(beside.c_str(), path.c_str()) != 0) problem = errno;
  if (problem == 0) return {};
  ::unlink(beside.c_str());
  return cannot_write(path, problem);
}

}  // namespace

Result<void> check_output_file(const std::string& path, bool replace) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) return fail(fmt::format("'{}' is no regular file", path));
    if (!replace) return is_there(path);
    return {};
  }
  if (errno != ENOENT) return cannot_write(path, errno);
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (::stat(folder.c_str(), &status) != 0) {
    return fail(fmt::format("cannot write '{}': there is no folder '{}'", path, folder));
  }
  return {};
}

Result<void> write_output_file(const std::string& path, std::string_view text, bool replace) {
  if (auto fine = check_output_file(path, replace); !fine) return fine;
  struct stat status{};
  if (!replace || ::stat(path.c_str(), &status) != 0) return write_new(path, text);
  // Through symbolic links: what they lead to is replaced, not the link.
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return cannot_write(path, errno);
  const std::string real_path = resolved;
  std::free(resolved);
  return write_over(real_path, text, status.st_mode & 07777U);
}

}  // namespace aotidbg
