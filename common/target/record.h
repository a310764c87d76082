// SPDX-License-Identifier: BSD-3-Clause
//
// How an analysis that reads a process becomes one that can be read again from a few megabytes.
//
// Memory may have a Record. While a snapshot is saved it notes what is read, so that just that is
// kept; in a snapshot it answers what was answered then. Code that reads a process says three
// things with the functions below, and is otherwise unaware of it:
//
//   answered()     a question whose answer takes more than can be kept (a symbol table, a search of
//                  all memory, a stack with its call frame information, a file) or is of a kind
//                  that must not be kept (values that are searched for an index)
//   tentatively()  reads that may turn out to be of something else: when they fail, nothing of them
//                  is kept, for it may be anybody's data
//   Target::read_stack()  a stack whose addresses alone matter
//
// Each type that is an answer has a Codec beside the code that asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>

#include "common/target/memory.h"
#include "common/target/ranges.h"

namespace aotidbg {

// Why bytes are in a snapshot.
enum class Purpose {
  object,  // of PyTorch, a runtime or a program: pointers, shapes, names
  module,  // headers, code and tables of a mapped file
  loader,  // the loader's list of what it loaded
  quoted,  // a value that the verdict quotes
  value,   // first values of tensors, when asked for
};

// A value of the process that the verdict quotes.
struct QuotedValue {
  std::string what;  // "input arg3_1[3]"
  std::string value;
  AddressRange range;
};

class Record {
 public:
  Record() = default;
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  virtual ~Record() = default;

  // The answer that is on record; null when the question was not asked.
  virtual const nlohmann::json* find(const std::string& question) = 0;

  // The rest does nothing in a snapshot, which is complete.
  virtual void answer(const std::string& question, nlohmann::json answer) = 0;
  virtual void keep(Address at, std::uint64_t size, Purpose purpose) = 0;
  virtual void keep_stack(Address start, Address end) = 0;  // its addresses alone
  virtual void pause() = 0;  // what is read until as many resume() is not kept
  virtual void resume() = 0;
  virtual std::size_t mark() = 0;
  virtual void forget_since(std::size_t mark) = 0;
};

// Nothing that is read in the life of this object is kept.
class NotRecorded {
 public:
  explicit NotRecorded(Memory& memory) : record_(memory.record()) {
    if (record_ != nullptr) record_->pause();
  }
  ~NotRecorded() {
    if (record_ != nullptr) record_->resume();
  }
  NotRecorded(const NotRecorded&) = delete;
  NotRecorded& operator=(const NotRecorded&) = delete;

 private:
  Record* record_;
};

// How a T is written and read: static nlohmann::json write(const T&), and
// static std::optional<T> read(const nlohmann::json&), which trusts nothing.
template <class T>
struct Codec;

// What `compute` returns, or returned when the snapshot was saved.
template <class T, class Compute>
T answered(Memory& memory, const std::string& question, Compute compute) {
  Record* const record = memory.record();
  if (record == nullptr) return compute();
  if (const nlohmann::json* known = record->find(question)) {
    if (std::optional<T> answer = Codec<T>::read(*known)) return std::move(*answer);
  }
  T answer = [&] {
    const NotRecorded while_computing(memory);
    return compute();
  }();
  record->answer(question, Codec<T>::write(answer));
  return answer;
}

// What `read`, which returns a Result, returns.
template <class Read>
auto tentatively(Memory& memory, Read read) {
  Record* const record = memory.record();
  if (record == nullptr) return read();
  const std::size_t mark = record->mark();
  auto result = read();
  if (!result) record->forget_since(mark);
  return result;
}

}  // namespace aotidbg
