// SPDX-License-Identifier: BSD-3-Clause
#include "cli/collect.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "cli/core_stream.h"
#include "common/commands/command.h"
#include "common/commands/output_file.h"
#include "common/report/json.h"
#include "common/report/terminal_text.h"
#include "common/target/live_process.h"

namespace aotidbg {

const std::string_view kCollectSummary =
    "for core_pattern: explains each crash of a model as it happens";
const std::string_view kCollectHelp =
    R"(usage: aotidbg collect [--limit SECONDS] [--all] PID DIR [--core FILE | --then COMMAND ...]

Reads a core on standard input, as the kernel gives it to a core_pattern handler. While process PID
waits to be dumped, explains its crash from its own memory, and writes DIR/NAME-PID-TIME.json, .txt
and .snapshot. Then the core is handed on, or dropped: nothing else is kept of it unless you say so.

options, before PID:
  --limit SECONDS   give up explaining after so long; 10 unless you say
  --all             also a report of crashes that have nothing to do with AOTInductor
at the end:
  --core FILE       write the core to FILE
  --then COMMAND    give the core to COMMAND with all words that follow, which begins with a /

example, for all processes of this machine (see docs/collect.md):
  echo '|/usr/local/bin/aotidbg collect %P /var/lib/aotidbg --core /var/lib/aotidbg/core.%P' \
      > /proc/sys/kernel/core_pattern
)";

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kSecondsByDefault = 10;

struct Wanted {
  std::int64_t pid = 0;
  std::string folder;
  std::int64_t seconds = kSecondsByDefault;
  bool all = false;
  std::string core;               // --core
  std::vector<std::string> then;  // --then
};

std::optional<std::int64_t> positive(const std::string& text) {
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool fine = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return fine && value > 0 && value <= INT32_MAX ? std::optional(value) : std::nullopt;
}

Result<Wanted> parse(std::span<const std::string> words) {
  Wanted wanted;
  std::vector<std::string> places;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool has_value = i + 1 < words.size();
    if (word == "--all") {
      wanted.all = true;
    } else if (word == "--limit") {
      const auto seconds = has_value ? positive(words[i + 1]) : std::nullopt;
      if (!seconds) return fail("--limit takes a number of seconds, 1 or more");
      wanted.seconds = *seconds;
      ++i;
    } else if (word == "--core") {
      if (!has_value) return fail("--core needs a value: --core FILE");
      wanted.core = words[++i];
    } else if (word == "--then") {
      wanted.then.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      // The kernel starts handlers without a PATH.
      if (wanted.then.empty() || !wanted.then.front().starts_with('/')) {
        return fail("--then needs a command that begins with a /, and takes all words that follow");
      }
      break;
    } else if (word.starts_with("--")) {
      return fail(fmt::format("'collect' has no option '{}'", word));
    } else {
      places.push_back(word);
    }
  }
  if (places.size() != 2) return fail("'collect' needs PID and DIR: see 'aotidbg help collect'");
  const auto pid = positive(places[0]);
  if (!pid) return fail(fmt::format("PID takes a number from 1, not '{}'", places[0]));
  if (!wanted.core.empty() && !wanted.then.empty()) {
    return fail("'collect' takes --core or --then, not both");
  }
  wanted.pid = *pid;
  wanted.folder = places[1];
  return wanted;
}

// The kernel gives a handler no standard output: what is opened next must not become one.
void open_standard_files() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(number, F_GETFD) < 0) (void)::open("/dev/null", O_RDWR);
  }
}

void say(int priority, std::string_view sentence) {
  const std::string line = printable(sentence);
  fmt::print(stderr, "aotidbg: {}\n", line);
  ::openlog("aotidbg", LOG_PID, LOG_DAEMON);
  ::syslog(priority, "%s", line.c_str());
}

// A part of a file's name, whatever a process calls itself.
std::string as_file_name(std::string_view command) {
  std::string name;
  for (const char c : command) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-' || c == '_';
    name += plain ? c : '_';
  }
  return name.empty() || name.starts_with('.') ? "process" + name : name;
}

// "20260131T235959", of UTC.
std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%S", &parts)};
}

// One command on the process; a failed one is an error.
Result<CommandOutput> ask(const HostContext& host, std::vector<std::string> words) {
  CommandOutput output = run_command(host, words);
  if (output.status == Status::failed) return fail(output.text);
  return output;
}

// Exit status, as collect() has it.
Result<int> explain(const Wanted& wanted, const CoreNotes& notes, const std::string& path) {
  const auto process = open_dying_process(wanted.pid, notes);
  if (!process) return tl::unexpected(process.error());
  HostContext host;
  host.host = "collector";
  host.prompt = "aotidbg";
  host.target = [&]() -> Result<Target*> { return process->get(); };
  const auto report = ask(host, {"inspect", "--json"});
  if (!report) return tl::unexpected(report.error());
  if (report->status == Status::no_aoti && !wanted.all) return 1;
  const auto text = ask(host, {"inspect", "--color", "never"});
  if (!text) return tl::unexpected(text.error());
  for (const auto& [kind, content] : {std::pair{".txt", &text->text}, {".json", &report->text}}) {
    auto done = write_output_file(path + kind, *content, false, Readers::owner_alone);
    if (!done) return tl::unexpected(done.error());
  }
  const Json document = Json::parse(report->text, nullptr, false);
  const std::string verdict = document.is_discarded() ? "" : document["verdict"]["text"];
  say(LOG_NOTICE, fmt::format("{} ({}): {}; {}.json", notes.command, wanted.pid, verdict, path));
  // Last, as it takes the longest: a report without it is still one.
  const auto snapshot = ask(host, {"snapshot", "save", path + ".snapshot"});
  if (!snapshot) say(LOG_WARNING, fmt::format("no snapshot: {}", snapshot.error().what));
  return report->status == Status::no_aoti ? 1 : 0;
}

// In a process of its own, which the time limit, or a fault in it, can end without harm.
int explain_in_time(const Wanted& wanted, const CoreNotes& notes, const std::string& path,
                    Clock::time_point deadline) {
  const pid_t child = ::fork();
  if (child < 0) {
    say(LOG_ERR, fmt::format("no process can be started: {}", std::strerror(errno)));
    return 2;
  }
  if (child == 0) {
    const auto status = explain(wanted, notes, path);
    if (!status) say(LOG_ERR, status.error().what);
    ::_exit(status ? *status : 2);
  }
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child && WIFEXITED(status)) return WEXITSTATUS(status);
    if (ended == child) {
      say(LOG_ERR, fmt::format("explaining process {} ended with signal {}; please report it",
                               wanted.pid, WTERMSIG(status)));
      break;
    }
    if (ended < 0 && errno != EINTR) break;
    if (Clock::now() >= deadline) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      say(LOG_ERR, fmt::format("explaining process {} took longer than {} s and was given up",
                               wanted.pid, wanted.seconds));
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (const char* kind : {".txt", ".json", ".snapshot"}) {
    ::unlink(unfinished_file(path + kind, child).c_str());
  }
  return 2;
}

int explain_what_comes(const Wanted& wanted, CoreStream& stream, Clock::time_point deadline) {
  const auto notes = stream.read_head(deadline);
  if (!notes) {
    say(LOG_ERR, notes.error().what);
    return 2;
  }
  if (::mkdir(wanted.folder.c_str(), 0700) != 0 && errno != EEXIST) {
    say(LOG_ERR, fmt::format("{} cannot be made: {}", wanted.folder, std::strerror(errno)));
    return 2;
  }
  const std::string path = fmt::format("{}/{}-{}-{}", wanted.folder, as_file_name(notes->command),
                                       wanted.pid, time_now());
  return explain_in_time(wanted, *notes, path, deadline);
}

}  // namespace

int collect(std::span<const std::string> words) {
  const Clock::time_point start = Clock::now();
  open_standard_files();
  ::umask(077);
  const auto wanted = parse(words);
  if (!wanted) {
    say(LOG_ERR, wanted.error().what);
    return 2;
  }
  CoreStream stream(STDIN_FILENO);
  const int status =
      explain_what_comes(*wanted, stream, start + std::chrono::seconds(wanted->seconds));
  Result<void> handed_on;
  if (!wanted->core.empty()) handed_on = stream.copy_to_file(wanted->core);
  if (!wanted->then.empty()) handed_on = stream.copy_to_command(wanted->then);
  if (!handed_on) {
    say(LOG_ERR, handed_on.error().what);
    return 2;
  }
  return status;
}

}  // namespace aotidbg
