// SPDX-License-Identifier: BSD-3-Clause
//
// A tensor in one line, for debuggers that print a variable of such a type. Needs no debug
// information: the object is read by libtorch's layout, as the commands do.
#pragma once

#include <memory>
#include <string>

#include "common/target/target.h"

namespace aotidbg {

// About one stop of one process; which libtorch runs there is found out once.
class TensorSummaries {
 public:
  explicit TensorSummaries(Target& target);
  ~TensorSummaries();
  TensorSummaries(const TensorSummaries&) = delete;
  TensorSummaries& operator=(const TensorSummaries&) = delete;

  // `at`: an at::Tensor (what an AtenTensorHandle points to) or a c10::TensorImpl. "float32 [8, 64]
  // on cpu, host (heap) 0x5626...: -0.393742, 0.38773, ..."; what is no tensor is said to be none.
  std::string summary(Address at);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aotidbg
