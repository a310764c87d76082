// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "common/commands/output_file.h"
#include "common/commands/session.h"
#include "common/report/terminal_text.h"
#include "common/report/text.h"
#include "common/report/words.h"
#include "common/target/recording.h"
#include "common/target/snapshot_file.h"

namespace aotidbg {
namespace {

constexpr std::size_t kFirstValues = 8;              // as many as `tensor` shows
constexpr std::size_t kMostThreads = 128;            // of more only those in a model are kept
constexpr std::uint64_t kMostSearched = 4ULL << 30;  // bytes of memory, for models on no stack

std::uint64_t writable_bytes(const Target& target) {
  std::uint64_t bytes = 0;
  for (const Region& region : target.regions()) {
    if (region.readable && region.writable) bytes += std::min(region.dumped, region.size());
  }
  return bytes;
}

// Asks all that the commands ask, of the thread that they explain unless told another.
Report ask_everything(const Session& session, Recording& recording, const AnalysisOptions& options,
                      SnapshotRequest& request) {
  Analysis analysis(recording, options);
  Report report = full_report(session, analysis);
  if (writable_bytes(recording) <= kMostSearched) report.models = analysis.models();
  (void)analysis.kernels();
  ValueMemory values = analysis.value_memory(kFirstValues);
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(request.tensor_memory, values.tensors);
  append(request.quoted, values.quoted);
  if (!session.options.keep_values) return report;
  for (const AddressRange& range : values.first) {
    recording.keep(range.start, range.size(), Purpose::value);
  }
  return report;
}

Result<Answer> save(const Session& session) {
  const std::string& path = session.options.arguments.front();
  if (auto fine = check_output_file(path, session.options.force); !fine) {
    return tl::unexpected(fine.error());
  }
  Result<AnalysisOptions> options = analysis_options(session);
  if (!options) return tl::unexpected(options.error());
  options->inactive = true;
  options->all_threads = session.target->threads().size() <= kMostThreads;

  Recording recording(*session.target);
  SnapshotRequest request;
  request.tool = AOTIDBG_VERSION;
  request.with_values = session.options.keep_values;
  AnalysisOptions unchosen = *options;
  unchosen.thread.reset();
  Report report = ask_everything(session, recording, unchosen, request);
  if (options->thread) report = ask_everything(session, recording, *options, request);
  if (session.target->interrupted()) return fail("interrupted: nothing was written");

  const Result<std::string> file = make_snapshot(recording, request);
  if (!file) return tl::unexpected(file.error());
  if (auto done = write_output_file(path, *file, session.options.force, Readers::owner_alone);
      !done) {
    return tl::unexpected(done.error());
  }
  if (session.options.json) {
    Json document = answer_head(report);
    document["snapshot"] = {{"file", path}, {"bytes", file->size()}};
    return Answer{status_of(report), json_text(document)};
  }
  return Answer{status_of(report),
                fmt::format("wrote {} to {}; `aotidbg snapshot show` lists what is inside\n",
                            bytes_text(file->size()), printable(path))};
}

SnapshotReport describe(const SnapshotNote& note, const Target& target) {
  SnapshotReport report;
  report.saved_from = note.process.saved_from == TargetKind::live ? "live" : "core";
  report.tool = note.tool;
  report.with_values = note.with_values;
  for (const auto& [purpose, set] : note.known) {
    report.parts.push_back({std::string(purpose_name(purpose)), set.ranges().size(), set.bytes()});
  }
  report.parts.push_back({"stacks", note.stacks.ranges().size(), note.stacks.bytes()});
  for (const QuotedValue& value : note.quoted) report.quoted.push_back({value.what, value.value});
  report.command_line = target.process().arguments;
  report.threads = target.threads().size();
  report.modules = note.modules.size();
  report.answers = note.answers.size();
  return report;
}

Result<Answer> show(const Session& session) {
  const SnapshotNote* const note = session.target->snapshot();
  if (note == nullptr) {
    return fail("this is no snapshot", std::nullopt,
                fmt::format("`{} snapshot save` makes one of it", session.host.prompt));
  }
  Result<AnalysisOptions> options = analysis_options(session);
  if (!options) return tl::unexpected(options.error());
  Analysis analysis(*session.target, std::move(*options));
  const Report report = full_report(session, analysis);
  const SnapshotReport snapshot = describe(*note, *session.target);
  if (!session.options.json) {
    return Answer{Status::report, snapshot_text(snapshot, report.target, session.style)};
  }
  Json document = answer_head(report);
  document["snapshot"] = to_json(snapshot);
  return Answer{Status::report, json_text(document)};
}

Result<Answer> snapshot(const Session& session) {
  return session.options.action == "save" ? save(session) : show(session);
}

}  // namespace

const Command kSnapshotCommand{
    .info = {"snapshot", "the crash in a small core, to be shared; what is in one"},
    .actions = {{"save", "FILE", "writes what the commands need into a new file"},
                {"show", "", "lists what a snapshot holds"}},
    .options = {kKeepValues, kThread},
    .about =
        "A snapshot is an ELF core of a few megabytes that aotidbg, GDB and LLDB open, and that "
        "gives the same report where neither torch nor the package is. It holds no environment "
        "variable, no weight, and of inputs only what the verdict quotes, unless --with-values is "
        "given.",
    .example = "snapshot save crash.core",
    .example_answer = "wrote 1.2 MiB to crash.core; `aotidbg snapshot show` lists what is inside",
    .run = snapshot};

}  // namespace aotidbg
