// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/module_file.h"
