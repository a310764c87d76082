// SPDX-License-Identifier: BSD-3-Clause
//
// `aotidbg COMMAND CORE`: the commands with no debugger.
//
// Exit status: 0 a report was made, whatever its verdict; 1 the file is readable and holds no
// AOTInductor state; 2 bad usage, or nothing to read, with one line on standard error.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/commands/command.h"
#include "common/target/elf_core.h"

namespace {

using aotidbg::HostContext;
using aotidbg::Status;

int terminal_columns() {
  constexpr int kComfortable = 100;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kComfortable;
}

// https://no-color.org: any text that is not empty.
bool wants_colors() {
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

int complain(std::string_view sentence) {
  fmt::print(stderr, "aotidbg: {}\n", sentence);
  return 2;
}

int run(std::vector<std::string> arguments) {
  std::unique_ptr<aotidbg::Target> target;
  HostContext host;
  host.host = "command line";
  host.prompt = "aotidbg";
  host.terminal_colors = wants_colors();
  host.columns = terminal_columns();
  host.open = [&target](const aotidbg::FileArguments& file) -> aotidbg::Result<aotidbg::Target*> {
    aotidbg::CoreOptions options;
    options.executable = file.executable;
    options.sysroot = file.sysroot;
    auto opened = aotidbg::open_core(file.core, options);
    if (!opened) return tl::unexpected(opened.error());
    target = std::move(*opened);
    return target.get();
  };
  if (::isatty(STDERR_FILENO) == 1) {
    host.progress = [](std::string_view sentence) { fmt::print(stderr, "{}\n", sentence); };
  }

  const aotidbg::CommandOutput output = aotidbg::run_command(host, arguments);
  if (output.status == Status::failed) return complain(output.text);
  const bool written =
      std::fwrite(output.text.data(), 1, output.text.size(), stdout) == output.text.size();
  if (!written || std::fflush(stdout) != 0) return complain("the answer could not be written");
  if (target && target->process().cut_short) {
    return complain(
        "the core file is cut short, so this answer is from what is left of it; write the core "
        "again with `ulimit -c unlimited` and room on the disk");
  }
  return output.status == Status::no_aoti ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}
