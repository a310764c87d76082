// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/kernel_name.h"

#include <gtest/gtest.h>

namespace aotidbg {
namespace {

TEST(KernelName, FoldsOutlinedBodiesIntoTheirKernel) {
  EXPECT_EQ(kernel_of_symbol("cpp_fused_add_0._omp_fn.0"), "cpp_fused_add_0");
  EXPECT_EQ(kernel_of_symbol("cpp_fused_add_0.omp_outlined"), "cpp_fused_add_0");
  EXPECT_EQ(kernel_of_symbol("cpp_fused_add_0.cold"), "cpp_fused_add_0");
  EXPECT_EQ(kernel_of_symbol("cpp_fused_add_0.constprop.0.isra.1"), "cpp_fused_add_0");
  EXPECT_EQ(kernel_of_symbol("cpp_fused_add_0"), "cpp_fused_add_0");
}

TEST(KernelName, TellsKernelsFromTheRuntime) {
  EXPECT_FALSE(is_runtime_symbol("cpp_fused_add_0"));
  EXPECT_FALSE(is_runtime_symbol("triton_poi_fused_add_0"));
  EXPECT_TRUE(is_runtime_symbol("_ZN5torch12aot_inductor16AOTInductorModel8run_implEv"));
  EXPECT_TRUE(is_runtime_symbol("AOTInductorModelContainerRun"));
}

TEST(KernelName, RecognisesRunImplWithASuffixedClass) {
  EXPECT_TRUE(
      is_run_impl("_ZN5torch12aot_inductor16AOTInductorModel8run_implEPP16AtenTensorOpaque"));
  EXPECT_TRUE(is_run_impl("_ZN5torch12aot_inductor20AOTInductorModelabcd8run_implEPP16Aten"));
  EXPECT_FALSE(is_run_impl("_ZN5torch12aot_inductor16AOTInductorModel14const_run_implEv"));
  EXPECT_FALSE(is_run_impl("_ZN5torch8inductor24AOTIModelContainerRunner8run_implEv"));
}

}  // namespace
}  // namespace aotidbg
