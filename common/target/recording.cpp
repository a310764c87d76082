// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/recording.h"

#include <nlohmann/json.hpp>

namespace aotidbg {

Recording::Recording(Target& recorded) : target_(recorded) {}
Recording::~Recording() = default;

std::map<std::string, nlohmann::json> Recording::take_answers() { return std::move(answers_); }

void Recording::add(Address at, std::uint64_t size, Purpose purpose) {
  if (size != 0) ranges_.push_back({{at, at + size}, purpose});
}

void Recording::keep(Address at, std::uint64_t size, Purpose purpose) { add(at, size, purpose); }

void Recording::keep_stack(Address start, Address end) {
  if (start < end) stacks_.push_back({start, end});
}

Result<void> Recording::read(Address at, std::span<std::byte> out) {
  auto done = target_.read(at, out);
  if (done && paused_ == 0) add(at, out.size(), Purpose::object);
  return done;
}

Result<void> Recording::read_stack(Address at, std::span<std::byte> out) {
  auto done = target_.read_stack(at, out);
  if (done && paused_ == 0) keep_stack(at, at + out.size());
  return done;
}

// The text alone: what follows it in its page is something else.
Result<std::string> Recording::read_c_string(Address at, std::size_t limit) {
  auto text = target_.read_c_string(at, limit);
  if (text && paused_ == 0) add(at, text->size() + 1, Purpose::object);
  return text;
}

// A snapshot can be saved again: what it answers is an answer here too.
const nlohmann::json* Recording::find(const std::string& question) {
  if (const auto known = answers_.find(question); known != answers_.end()) return &known->second;
  Record* const before = target_.record();
  const nlohmann::json* const answer = before == nullptr ? nullptr : before->find(question);
  return answer == nullptr ? nullptr : &answers_.emplace(question, *answer).first->second;
}

void Recording::answer(const std::string& question, nlohmann::json answer) {
  answers_.insert_or_assign(question, std::move(answer));
}

}  // namespace aotidbg
