// SPDX-License-Identifier: BSD-3-Clause
//
// From a stopped process to what a command answers. One Analysis is about one stop; it reads the
// target and keeps what it found, so that several questions about one stop cost one discovery.
//
// Nothing here knows which host it runs in. What could not be read is an entry in the report's
// unknowns, never an exception.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/report/report.h"
#include "common/target/record.h"
#include "common/target/target.h"

namespace aotidbg {

struct AnalysisOptions {
  std::optional<ThreadId> thread;  // the thread to explain; empty: the one that matters most
  bool scan = false;               // search all writable memory even if the stack has a model
  bool all_threads = false;        // report every thread, not only those that matter to AOTI
  bool inactive = false;           // also the constants of the buffer that is not in use
  std::function<void(std::string_view)> progress;  // a sentence while work takes long; may be empty
};

// Where the process keeps values, for who must leave them out of what he passes on (a snapshot).
struct ValueMemory {
  std::vector<AddressRange> tensors;  // storages of all tensors that are known, and constant blobs
  std::vector<AddressRange> first;    // their first elements
  std::vector<QuotedValue> quoted;    // what the verdict quotes
};

class Analysis {
 public:
  Analysis(Target& target, AnalysisOptions options);
  ~Analysis();
  Analysis(const Analysis&) = delete;
  Analysis& operator=(const Analysis&) = delete;

  // Everything that `aoti inspect` shows. The host's name and the tool's version are the caller's.
  Report report();

  // Every model in the process, by a scan of its memory.
  std::vector<ModelReport> models();

  // One tensor with at most `values` of its first values. `name_or_address` is a constant, input or
  // buffer by either of its names, or an address ("0x..."). `evaluated` is what a register or a
  // debugger's variable of that name holds: used when no tensor has that name.
  Result<TensorValues> tensor(const std::string& name_or_address, std::optional<Address> evaluated,
                              std::size_t values);

  // The generated kernels of the model's wrapper; the one that the fault lies in is marked.
  std::vector<KernelReport> kernels();

  // Of the running model and of those that models() found, if it was called.
  ValueMemory value_memory(std::size_t first);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace aotidbg
