// SPDX-License-Identifier: BSD-3-Clause
#include "gdb_bridge/variable_path.h"

#include <gtest/gtest.h>

namespace aotidbg {
namespace {

TEST(VariablePath, TakesWhatOnlyNamesMemory) {
  for (const char* text : {"tensor", "*handle", "&tensor", "**p", "models[0].weight", "self->impl_",
                           "at::globals", "::handle", "a[1][22]", "_x1"}) {
    EXPECT_TRUE(is_variable_path(text)) << text;
  }
}

TEST(VariablePath, RefusesWhatCouldAssignCallOrCompute) {
  for (const char* text : {"",     "x = 3",  "x=3",         "x++", "f()",  "tensor.defined()",
                           "a[b]", "a[f()]", "(int)x",      "x,y", "$rip", "0x10",
                           "10",   "a.",     "a->",         "a[",  "a[]",  "x y",
                           "*",    "a[1",    "'file.c'::x", "x@3"}) {
    EXPECT_FALSE(is_variable_path(text)) << text;
  }
}

}  // namespace
}  // namespace aotidbg
