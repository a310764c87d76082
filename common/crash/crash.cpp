// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/crash.h"

#include <algorithm>

namespace aotidbg {

bool Crash::has_sure_stack() const {
  const auto is_sure = [](const NamedFrame& named) {
    const bool is_read = named.frame.how == FrameHow::registers || named.frame.how == FrameHow::cfi;
    return is_read && !named.frame.assumed;
  };
  const std::size_t last = call && !call->joined && call->run_impl ? *call->run_impl + 1
                           : kernel                                ? kernel->frame + 1
                                                                   : stack.frames.size();
  return std::all_of(
      stack.frames.begin(),
      stack.frames.begin() + static_cast<std::ptrdiff_t>(std::min(last, stack.frames.size())),
      is_sure);
}

bool Crash::has_runner_frame() const {
  return std::any_of(stack.frames.begin(), stack.frames.end(), [](const NamedFrame& named) {
    return named.symbol &&
           (named.symbol->name.find("24AOTIModelContainerRunner") != std::string::npos ||
            named.symbol->name.find("22AOTIModelPackageLoader") != std::string::npos);
  });
}

bool Crash::has_null_base() const {
  constexpr Address kNullPage = 4096;
  if (!fault.address) return false;
  const bool near_null = *fault.address < kNullPage;
  if (!fault.operand) return near_null;
  const MemoryOperand& operand = *fault.operand;
  if (near_null) return !operand.base || *operand.base < kNullPage;
  // A null array with a large index. Where the index is not scaled it may be the pointer itself.
  return !operand.base_register.empty() && operand.base == 0 && operand.index && operand.scale > 1;
}

}  // namespace aotidbg
