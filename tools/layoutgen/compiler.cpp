// SPDX-License-Identifier: BSD-3-Clause
#include "compiler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

extern char** environ;

namespace aotidbg::layoutgen {
namespace {

// Runs a program with both outputs in `log`; its exit status.
Result<int> run(const std::vector<std::string>& words, const std::filesystem::path& log) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail(fmt::format("cannot run {}: {}", words[0], std::strerror(error)));

  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return fail(fmt::format("lost {}: {}", words[0], std::strerror(errno)));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// The first line of `log` that holds `word`; of all its lines if that is empty.
std::string first_line_with(const std::filesystem::path& log, const std::string& word) {
  std::ifstream file(log);
  std::string line;
  while (std::getline(file, line)) {
    if (line.find(word) != std::string::npos) return line;
  }
  return {};
}

}  // namespace

Result<ScratchFolder> ScratchFolder::create() {
  std::error_code error;
  const auto parent = std::filesystem::temp_directory_path(error);
  std::string name =
      ((error ? std::filesystem::path("/tmp") : parent) / "layoutgen-XXXXXX").string();
  if (!mkdtemp(name.data())) return fail(fmt::format("cannot create {}", name));
  return ScratchFolder(name);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Result<std::string> Compiler::version(const ScratchFolder& scratch) const {
  const auto log = scratch.path() / "version.log";
  const auto status = run({program, "--version"}, log);
  if (!status) return tl::unexpected(status.error());
  return first_line_with(log, "");
}

Result<std::filesystem::path> Compiler::compile(const std::string& probe,
                                                const std::vector<std::string>& macros,
                                                const ScratchFolder& scratch) const {
  std::string stem = probe;
  for (const std::string& macro : macros) stem += "-" + macro;
  auto object = scratch.path() / (stem + ".so");
  const auto log = scratch.path() / (stem + ".log");

  // A shared object: debug information in it needs no relocation, and undefined symbols are
  // allowed.
  std::vector<std::string> words = {program,
                                    "-std=" + standard,
                                    "-w",
                                    "-O0",
                                    "-gdwarf-5",
                                    "-fPIC",
                                    "-shared",
                                    "-fno-access-control",
                                    "-femit-class-debug-always",
                                    "-o",
                                    object.string(),
                                    "-I",
                                    (sources / "stubs").string(),
                                    "-isystem",
                                    torch_include.string(),
                                    "-isystem",
                                    (torch_include / "torch/csrc/api/include").string(),
                                    fmt::format("-D_GLIBCXX_USE_CXX11_ABI={:d}", cxx11_string)};
  for (const std::string& macro : macros) words.push_back("-D" + macro);
  words.push_back((sources / "probes" / (probe + ".cpp")).string());

  const auto status = run(words, log);
  if (!status) return tl::unexpected(status.error());
  if (*status != 0) {
    return fail(fmt::format("{} does not compile: {}", stem, first_line_with(log, "error:")));
  }
  return object;
}

}  // namespace aotidbg::layoutgen
