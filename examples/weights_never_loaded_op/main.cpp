// SPDX-License-Identifier: BSD-3-Clause
//
// The package holds no weight and the program forgets load_constants: an op of libtorch gets a null
// handle.
#include "common/example.h"

int main(int, char** argv) {
  Loader loader(argv[1]);
  return survived(loader.run({counting({8, 128})}));
}
