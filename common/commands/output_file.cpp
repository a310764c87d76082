// SPDX-License-Identifier: BSD-3-Clause
#include "common/commands/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace aotidbg {

std::string unfinished_file(const std::string& path, pid_t writer) {
  return fmt::format("{}.{}.part", path, writer);
}

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

// Gives `from` the name `to`, which nothing may have. Not every file system knows the first way.
int rename_to_new(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  if (::link(from.c_str(), to.c_str()) != 0) return errno;
  ::unlink(from.c_str());
  return 0;
}

// Beside the file, then in its place: a reader sees nothing or the whole of it. A new file has
// `mode` less the user's umask, one that is replaced just `mode`.
Result<void> write_file(const std::string& path, std::string_view text, mode_t mode, bool replace) {
  const std::string beside = unfinished_file(path, ::getpid());
  Descriptor file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file.open()) return cannot_write(path, errno);
  int problem = !replace || ::fchmod(file.get(), mode) == 0 ? 0 : errno;
  if (problem == 0) problem = write_all(file, text);
  if (problem == 0 && replace && ::rename(beside.c_str(), path.c_str()) != 0) problem = errno;
  if (problem == 0 && !replace) problem = rename_to_new(beside, path);
  if (problem == 0) return {};
  ::unlink(beside.c_str());
  return problem == EEXIST ? is_there(path) : cannot_write(path, problem);
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

Result<void> write_output_file(const std::string& path, std::string_view text, bool replace,
                               Readers readers) {
  if (auto fine = check_output_file(path, replace); !fine) return fine;
  struct stat status{};
  if (!replace || ::stat(path.c_str(), &status) != 0) {
    const mode_t mode = readers == Readers::owner_alone ? 0600 : 0666;
    return write_file(path, text, mode, false);
  }
  // Through symbolic links: what they lead to is replaced, not the link.
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return cannot_write(path, errno);
  const std::string real_path = resolved;
  std::free(resolved);
  return write_file(real_path, text, status.st_mode & 07777U, true);
}

}  // namespace aotidbg
