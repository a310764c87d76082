// SPDX-License-Identifier: BSD-3-Clause
//
// `aotidbg COMMAND (CORE | --pid PID)`: the commands with no debugger.
//
// Exit status: 0 a report was made, whatever its verdict; 1 the file is readable and holds no
// AOTInductor state; 2 bad usage, or nothing to read, with one line on standard error.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/collect.h"
#include "cli/package_folder.h"
#include "common/commands/command.h"
#include "common/target/elf_core.h"
#include "common/target/live_process.h"
#include "common/target/packed_core.h"
#include "common/target/process_stop.h"

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

// What the command line names, opened. A process stands still until this object ends.
class Opened {
 public:
  aotidbg::Result<aotidbg::Target*> open(const aotidbg::FileArguments& file,
                                         const HostContext& host) {
    auto target = file.pid ? open_process(*file.pid) : open_core(file, host);
    if (!target) return tl::unexpected(target.error());
    target_ = std::move(*target);
    return target_.get();
  }
  bool is_cut_short() const { return target_ && target_->process().cut_short; }
  void let_go() { stop_.reset(); }

 private:
  using Opening = aotidbg::Result<std::unique_ptr<aotidbg::Target>>;

  Opening open_process(std::int64_t pid) {
    auto stop = aotidbg::ProcessStop::make(pid);
    if (!stop) return tl::unexpected(stop.error());
    stop_.emplace(std::move(*stop));
    return aotidbg::open_live_process(stop_->pid(), stop_->threads(), {});
  }

  Opening open_core(const aotidbg::FileArguments& file, const HostContext& host) {
    auto unpacked = aotidbg::UnpackedCore::open(file.core, host.progress);
    if (!unpacked) return tl::unexpected(unpacked.error());
    unpacked_.emplace(std::move(*unpacked));
    aotidbg::CoreOptions options;
    options.executable = file.executable;
    options.sysroot = file.sysroot;
    options.search = file.search;
    for (const std::string& package : file.packages) {
      auto folder = aotidbg::PackageFolder::open(package);
      if (!folder) return tl::unexpected(folder.error());
      packages_.push_back(std::move(*folder));
      options.packages.push_back({package, packages_.back().path()});
    }
    options.options_must_serve = true;
    options.contents = unpacked_->contents();
    return aotidbg::open_core(file.core, options);
  }

  std::vector<aotidbg::PackageFolder> packages_;
  std::optional<aotidbg::UnpackedCore> unpacked_;
  std::optional<aotidbg::ProcessStop> stop_;
  std::unique_ptr<aotidbg::Target> target_;
};

int run(const std::vector<std::string>& arguments) {
  if (!arguments.empty() && arguments[0] == "collect") {
    const auto words = std::span(arguments).subspan(1);
    if (words.size() != 1 || (words[0] != "--help" && words[0] != "-h")) {
      return aotidbg::collect(words);
    }
    fmt::print("{}", aotidbg::kCollectHelp);
    return 0;
  }
  Opened opened;
  HostContext host;
  host.host = "command line";
  host.prompt = "aotidbg";
  host.own_commands = {{{"collect", aotidbg::kCollectSummary}, aotidbg::kCollectHelp}};
  host.terminal_colors = wants_colors();
  host.columns = terminal_columns();
  if (::isatty(STDERR_FILENO) == 1) {
    host.progress = [](std::string_view sentence) { fmt::print(stderr, "{}\n", sentence); };
  }
  host.open = [&](const aotidbg::FileArguments& file) { return opened.open(file, host); };

  const aotidbg::CommandOutput output = aotidbg::run_command(host, arguments);
  opened.let_go();
  if (output.status == Status::failed) return complain(output.text);
  const bool written =
      std::fwrite(output.text.data(), 1, output.text.size(), stdout) == output.text.size();
  if (!written || std::fflush(stdout) != 0) return complain("the answer could not be written");
  if (opened.is_cut_short()) {
    return complain(
        "the core file is cut short, so this answer is from what is left of it; write the core "
        "again with `ulimit -c unlimited` and room on the disk");
  }
  return output.status == Status::no_aoti ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error, not the end
  try {
    return run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    return complain(error.what());
  }
}
