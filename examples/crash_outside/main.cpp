// SPDX-License-Identifier: BSD-3-Clause
//
// The model is loaded and has run; the crash is the program's own: it follows a null pointer while
// it prints what came out.
#include "common/example.h"

struct Label {
  int64_t id;
  int32_t length;
};

__attribute__((noinline)) int32_t length_of(const volatile Label* label) { return label->length; }

int main(int argc, char** argv) {
  Loader loader(argv[1]);
  std::vector<at::Tensor> outputs = loader.run({counting({8, 128})});
  const Label label{1, 2};
  std::printf("%d\n", length_of(argc > 5 ? &label : nullptr));
  return survived(outputs);
}
