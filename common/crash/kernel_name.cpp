// SPDX-License-Identifier: BSD-3-Clause
#include "common/crash/kernel_name.h"

#include <array>

namespace aotidbg {

std::string_view kernel_of_symbol(std::string_view symbol) {
  return symbol.substr(0, symbol.find('.'));
}

bool is_runtime_symbol(std::string_view symbol) {
  // Generated kernels have C linkage (torch/_inductor/codegen/cpp.py); everything else in
  // a wrapper is C++ or one of the exported entry points (aoti_runtime/interface.h).
  static constexpr std::array<std::string_view, 6> kPrefixes = {"_Z",    "AOTInductor", "_init",
                                                                "_fini", "_start",      "__"};
  for (const std::string_view prefix : kPrefixes) {
    if (symbol.starts_with(prefix)) return true;
  }
  return false;
}

bool is_run_impl(std::string_view symbol) {
  return symbol.starts_with("_ZN5torch12aot_inductor") &&
         symbol.find("8run_implE") != std::string_view::npos;
}

bool is_openmp_body(std::string_view symbol) {
  // GCC names them KERNEL._omp_fn.N, clang KERNEL.omp_outlined[...] (.omp_outlined. before 17).
  return symbol.find("omp_fn") != std::string_view::npos ||
         symbol.find("omp_outlined") != std::string_view::npos;
}

}  // namespace aotidbg
