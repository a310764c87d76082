// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "common/arch/x86_64.h"
#include "common/commands/session.h"
#include "common/report/text.h"

namespace aotidbg {
namespace {

constexpr std::size_t kValues = 8;

// The value of a register of the thread that is looked at. The outer Result is about the name, the
// optional about the text: nothing when it names no register.
Result<std::optional<Address>> register_value(const Session& session, std::string_view text,
                                              const std::optional<ThreadId>& chosen) {
  if (text.starts_with('$')) text.remove_prefix(1);
  const std::optional<std::size_t> slot = register_slot(text);
  if (!slot) return std::optional<Address>();
  const std::optional<ThreadId> id = chosen ? chosen : session.target->stopped_thread();
  const Thread* thread = id ? session.target->thread(*id) : nullptr;
  if (thread == nullptr) {
    return fail(fmt::format("whose '{}' is not known: no thread is selected", text), std::nullopt,
                "name one with --thread ID");
  }
  const std::optional<std::uint64_t> value = thread->registers.get(*slot);
  if (!value) return fail(fmt::format("thread {} has no value for {}", thread->id, text));
  return value;
}

std::optional<Address> decimal(std::string_view text) {
  Address value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// What the text means to the host or as a register; nothing when it can only be a tensor's name.
Result<std::optional<Address>> evaluated(const Session& session, const std::string& text,
                                         const std::optional<ThreadId>& chosen) {
  if (const auto address = address_of(text)) return address;
  if (const auto address = decimal(text)) return address;
  // A frame that is selected in the debugger has registers of its own: the host goes first, unless
  // the user asked for a thread.
  if (session.host.evaluate && !session.options.thread) {
    if (const Result<Address> value = session.host.evaluate(text)) return std::optional(*value);
  }
  return register_value(session, text, chosen);
}

Result<Answer> tensor(const Session& session) {
  Result<AnalysisOptions> options = analysis_options(session);
  if (!options) return tl::unexpected(options.error());
  const std::string& text = session.options.arguments.front();
  const Result<std::optional<Address>> address = evaluated(session, text, options->thread);
  if (!address && text.starts_with('$')) return tl::unexpected(address.error());
  if (text.starts_with('$') && !address->has_value()) {
    return fail(fmt::format("there is no register '{}'", text));
  }

  Analysis analysis(*session.target, std::move(*options));
  const Result<TensorValues> values = analysis.tensor(
      text, address ? *address : std::nullopt, session.options.value_count.value_or(kValues));
  if (!values) return tl::unexpected(values.error());
  if (!session.options.json) return Answer{Status::report, tensor_text(*values, session.style)};
  Json document = answer_head(full_report(session, analysis));
  document["tensor"] = to_json(*values);
  return Answer{Status::report, json_text(document)};
}

}  // namespace

const Command kTensorCommand{
    .info = {"tensor", "one tensor: its metadata, where its bytes are, its first values"},
    .argument = "NAME|REGISTER|ADDRESS",
    .argument_required = true,
    .options = {kValueCount, kThread},
    .about =
        "NAME is a constant, input or buffer, by the user's name or the generated code's. "
        "REGISTER or ADDRESS hold an at::Tensor*, a handle or a TensorImpl*. Nothing runs in "
        "the process.",
    .example = "tensor emb.weight --values 4",
    .example_answer = "Tensor     constant emb.weight (emb_weight)",
    .run = tensor};

}  // namespace aotidbg
