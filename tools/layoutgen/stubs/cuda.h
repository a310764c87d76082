// SPDX-License-Identifier: BSD-3-Clause
//
// Stands in for the CUDA driver's header while layoutgen compiles AOTInductor's runtime headers
// with USE_CUDA. Handles are pointers to opaque structures, as CUDA documents them; that and their
// size is all that a layout needs. Nothing here is ever called.
#pragma once

typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef struct CUstream_st* CUstream;
typedef struct CUevent_st* CUevent;
typedef unsigned long long CUdeviceptr;
typedef int CUdevice;

typedef enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 } CUresult;

extern "C" {
CUresult cuModuleUnload(CUmodule module);
CUresult cuGetErrorString(CUresult error, const char** text);
}
