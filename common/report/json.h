// SPDX-License-Identifier: BSD-3-Clause
//
// Results as JSON, by the contract docs/report.schema.json: addresses are hex strings, what is not
// known is null, and `bytes` and `index` beyond 2^53 are decimal strings, for readers that keep
// every number as a double.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/report/report.h"

namespace aotidbg {

using Json = nlohmann::ordered_json;

Json to_json(const Report& report);  // the whole of `aoti inspect`

// Parts of it, for the commands that answer one question.
Json tool_json(const Report& report);  // "tool"
Json to_json(const TargetReport& target);
Json to_json(const Verdict& verdict);
Json to_json(const FaultReport& fault);
Json to_json(const KernelReport& kernel);
Json to_json(const InputReport& input);
Json to_json(const ModelReport& model);
Json to_json(const ThreadReport& thread);
Json to_json(const Unknown& unknown);
Json to_json(const TensorValues& values);
Json to_json(const FileReport& file);
Json to_json(const GapReport& gap);

template <class T>
Json to_json(const std::vector<T>& items) {
  Json array = Json::array();
  for (const T& item : items) array.push_back(to_json(item));
  return array;
}

template <class T>
Json to_json(const std::optional<T>& item) {
  return item ? to_json(*item) : Json(nullptr);
}

// "schema", "tool" and "target", which every answer starts with.
Json answer_head(const Report& report);

// The text of a document, ASCII alone, with a line feed at its end. Strings that are not UTF-8 are
// written with U+FFFD for what is wrong.
std::string json_text(const Json& document);

Json to_json(const SnapshotReport& snapshot);

}  // namespace aotidbg
