// SPDX-License-Identifier: BSD-3-Clause
//
// The executor that runs operators which a package cannot call directly. Its header is not
// installed in every version, and needs nlohmann/json; so it is a probe of its own. See
// wrapper.cpp.
#include <torch/csrc/inductor/aoti_torch/oss_proxy_executor.h>

// Newer than the rest of the header: only declared where it does not exist.
namespace torch::aot_inductor {
struct OSSOpKernelOperator;
}

namespace aotidbg_layoutgen {

struct LayoutProbe {
  torch::aot_inductor::OSSProxyExecutor executor;
  torch::aot_inductor::OSSDynamicArg dynamic_arg;
  torch::aot_inductor::OSSOpKernel* op_kernel;  // abstract from 2.8 on
  torch::aot_inductor::OSSOpKernelOperator* op_kernel_operator;
};

LayoutProbe* probe;

}  // namespace aotidbg_layoutgen
