// SPDX-License-Identifier: BSD-3-Clause
//
// See cuda_runtime_api.h.
#pragma once

#include "cuda_runtime_api.h"
