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
  if (!fault.address || *fault.address >= kNullPage) return false;
  if (!fault.operand) return true;
  return !fault.operand->base || *fault.operand->base < kNullPage;
}

}  // namespace aotidbg
