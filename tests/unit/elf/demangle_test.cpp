// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "common/elf/symbols.h"

namespace aotidbg {
namespace {

struct Case {
  const char* mangled;
  const char* brief;
};

class Brief : public testing::TestWithParam<Case> {};

TEST_P(Brief, KeepsTheNameAlone) {
  EXPECT_EQ(demangle(GetParam().mangled, true), GetParam().brief)
      << demangle(GetParam().mangled, false);
}

INSTANTIATE_TEST_SUITE_P(
    Names, Brief,
    testing::Values(
        Case{"main", "main"}, Case{"cpp_fused_add_0._omp_fn.0", "cpp_fused_add_0._omp_fn.0"},
        Case{"_Znot_a_name", "_Znot_a_name"},
        Case{"_ZN5torch12aot_inductor16AOTInductorModel8run_implEPP16AtenTensorOpaqueS3_Pvi",
             "torch::aot_inductor::AOTInductorModel::run_impl"},
        // void f<std::vector<int>>(int): a return type, template arguments
        Case{"_Z1fISt6vectorIiSaIiEEEvi", "f"},
        // a::B<int>::c() const
        Case{"_ZNK1a1BIiE1cEv", "a::B::c"},
        // operators: <, <<, (), ->, bool, new[], ""_km
        Case{"_ZltRK1AS1_", "operator<"}, Case{"_ZlsIcERSoS0_T_", "operator<<"},
        Case{"_ZN1AclEi", "A::operator()"}, Case{"_ZNK1AptEv", "A::operator->"},
        Case{"_ZNK1AcvbEv", "A::operator bool"}, Case{"_Znam", "operator new[]"},
        Case{"_Zli3_kme", "operator\"\" _km"},
        // bool operator< <int>(A<int> const&, A<int> const&)
        Case{"_ZltIiEbRK1AIT_ES4_", "operator<"},
        // (anonymous namespace)::f(int)
        Case{"_ZN12_GLOBAL__N_11fEi", "(anonymous namespace)::f"},
        // f(int)::{lambda(int)#1}::operator()(int) const
        Case{"_ZZ1fiENKUliE_clEi", "f::{lambda#1}::operator()"},
        // void std::__invoke_impl<void, main::{lambda(int)#1}&, int>(...)
        Case{"_ZSt13__invoke_implIvRZ4mainEUliE_JiEET_St14__invoke_otherOT0_DpOT1_",
             "std::__invoke_impl"},
        Case{"_ZTV1AIiE", "vtable for A"}, Case{"_ZN1AIiED2Ev", "A::~A"},
        Case{"_ZN1A1fB5cxx11Ei", "A::f"}, Case{"_Z1fi.cold", "f.cold"},
        // at::vec::operator+<float>: the symbol of an operator before its arguments
        Case{"_ZN2at3vecplIfEEvT_", "at::vec::operator+"},
        // void f<&A::operator< >(): an operator among template arguments
        Case{"_Z1fIXadL_ZN1AltEiEEEvv", "f"}));

TEST(Full, KeepsParameters) {
  EXPECT_EQ(demangle("_ZNK1a1BIiE1cEv", false), "a::B<int>::c() const");
}

// A function that returns a pointer to a function is not worth a parser: it is shown whole.
TEST(Brief, GivesUpRatherThanGuess) {
  const std::string mangled = "_Z1fIiEPFvvET_";
  EXPECT_EQ(demangle(mangled, true), demangle(mangled, false));
}

TEST(Brief, EndlessNamesAreLeftAlone) {
  const std::string name = "_Z" + std::string(1U << 20, 'P');
  EXPECT_EQ(demangle(name, true), name);
}

}  // namespace
}  // namespace aotidbg
