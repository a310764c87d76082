// SPDX-License-Identifier: BSD-3-Clause
//
// From a symbol of wrapper.so to the generated kernel that its code belongs to.
#pragma once

#include <string>
#include <string_view>

namespace aotidbg {

// The kernel's own name, without what the compiler appended for parts of it: outlined OpenMP bodies
// (._omp_fn.N), cold parts and clones (.cold, .constprop.N, .isra.N, .part.N, .lto_priv.N).
std::string_view kernel_of_symbol(std::string_view symbol);

// True for symbols of the AOTI runtime inside wrapper.so (run_impl, containers, entry points,
// the C++ library), false for what was generated for the model: kernels.
bool is_runtime_symbol(std::string_view symbol);

bool is_run_impl(std::string_view symbol);  // AOTInductorModel*::run_impl

// An outlined OpenMP body: it may run on a worker thread whose stack does not show its caller.
bool is_openmp_body(std::string_view symbol);

}  // namespace aotidbg
