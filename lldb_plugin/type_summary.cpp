// SPDX-License-Identifier: BSD-3-Clause
#include "lldb_plugin/type_summary.h"

namespace aotidbg {
namespace {

// LLDB takes a plain function, and keeps it for as long as it lives.
SummaryOf summary_function = nullptr;

std::optional<Address> object_of(lldb::SBValue value) {
  lldb::SBError error;
  if (value.GetType().IsPointerType()) {
    const std::uint64_t pointer = value.GetValueAsUnsigned(error);
    return error.Success() && pointer != 0 ? std::optional(pointer) : std::nullopt;
  }
  if (value.GetType().IsReferenceType()) value = value.Dereference();
  const lldb::addr_t at = value.GetLoadAddress();
  return at == LLDB_INVALID_ADDRESS ? std::nullopt : std::optional<Address>(at);
}

// NOLINTBEGIN(performance-unnecessary-value-param): as SBTypeSummary::FormatCallback has it
bool summarise(lldb::SBValue value, lldb::SBTypeSummaryOptions /*options*/,
               lldb::SBStream& stream) {
  // NOLINTEND(performance-unnecessary-value-param)
  try {
    const auto at = object_of(value.GetNonSyntheticValue());
    if (!at || summary_function == nullptr) return false;
    lldb::SBDebugger debugger = value.GetTarget().GetDebugger();
    lldb::SBProcess process = value.GetProcess();
    const auto text = summary_function(debugger, process, *at);
    if (text) stream.Print(text->c_str());
    return text.has_value();
  } catch (...) {
    return false;  // LLDB then prints the value as it would without us
  }
}

}  // namespace

bool add_type_summaries(lldb::SBDebugger& debugger, SummaryOf summary_of) {
  summary_function = summary_of;
  lldb::SBTypeCategory category = debugger.CreateCategory("aotidbg");
  if (!category.IsValid()) return false;
  // What a name like torch::Tensor stands for, too; a pointer to an at::Tensor stays a pointer.
  constexpr std::uint32_t kObjects = lldb::eTypeOptionCascade | lldb::eTypeOptionSkipPointers |
                                     lldb::eTypeOptionHideChildren | lldb::eTypeOptionNonCacheable;
  for (const char* name : {"at::Tensor", "at::TensorBase", "c10::TensorImpl"}) {
    category.AddTypeSummary(lldb::SBTypeNameSpecifier(name),
                            lldb::SBTypeSummary::CreateWithCallback(summarise, kObjects));
  }
  constexpr std::uint32_t kPointers =
      lldb::eTypeOptionCascade | lldb::eTypeOptionHideChildren | lldb::eTypeOptionNonCacheable;
  for (const char* name : {"AtenTensorOpaque *", "c10::TensorImpl *"}) {
    category.AddTypeSummary(lldb::SBTypeNameSpecifier(name),
                            lldb::SBTypeSummary::CreateWithCallback(summarise, kPointers));
  }
  category.SetEnabled(true);
  return true;
}

}  // namespace aotidbg
