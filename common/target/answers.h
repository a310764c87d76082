// SPDX-License-Identifier: BSD-3-Clause
//
// How plain answers are written into a snapshot and read from one (record.h): numbers, texts, and
// lists, options and Results of what has a Codec.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/target/record.h"

namespace aotidbg {

template <>
struct Codec<bool> {
  static nlohmann::json write(bool value) { return value; }
  static std::optional<bool> read(const nlohmann::json& json) {
    return json.is_boolean() ? std::optional(json.get<bool>()) : std::nullopt;
  }
};

template <>
struct Codec<std::uint64_t> {
  static nlohmann::json write(std::uint64_t value) { return value; }
  static std::optional<std::uint64_t> read(const nlohmann::json& json) {
    return json.is_number_unsigned() ? std::optional(json.get<std::uint64_t>()) : std::nullopt;
  }
};

template <>
struct Codec<std::int64_t> {
  static nlohmann::json write(std::int64_t value) { return value; }
  static std::optional<std::int64_t> read(const nlohmann::json& json) {
    const bool fits = json.is_number_integer() &&
                      (!json.is_number_unsigned() || json.get<std::uint64_t>() <= INT64_MAX);
    return fits ? std::optional(json.get<std::int64_t>()) : std::nullopt;
  }
};

template <>
struct Codec<std::string> {
  static nlohmann::json write(const std::string& value) { return value; }
  static std::optional<std::string> read(const nlohmann::json& json) {
    return json.is_string() ? std::optional(json.get<std::string>()) : std::nullopt;
  }
};

// A list is as long as it is; an element that is not one spoils all.
template <class T>
struct Codec<std::vector<T>> {
  static nlohmann::json write(const std::vector<T>& items) {
    nlohmann::json out = nlohmann::json::array();
    for (const T& item : items) out.push_back(Codec<T>::write(item));
    return out;
  }
  static std::optional<std::vector<T>> read(const nlohmann::json& json) {
    if (!json.is_array()) return std::nullopt;
    std::vector<T> items;
    for (const nlohmann::json& element : json) {
      std::optional<T> item = Codec<T>::read(element);
      if (!item) return std::nullopt;
      items.push_back(std::move(*item));
    }
    return items;
  }
};

// null: nothing.
template <class T>
struct Codec<std::optional<T>> {
  static nlohmann::json write(const std::optional<T>& item) {
    return item ? Codec<T>::write(*item) : nlohmann::json();
  }
  static std::optional<std::optional<T>> read(const nlohmann::json& json) {
    if (json.is_null()) return std::optional<std::optional<T>>(std::in_place, std::nullopt);
    std::optional<T> item = Codec<T>::read(json);
    if (!item) return std::nullopt;
    return std::optional<std::optional<T>>(std::in_place, std::move(item));
  }
};

// {"error": ...} or the value.
template <class T>
struct Codec<Result<T>> {
  static nlohmann::json write(const Result<T>& result) {
    if (result) return Codec<T>::write(*result);
    nlohmann::json error = {{"error", result.error().what}, {"fix", result.error().fix}};
    if (result.error().at) error["at"] = *result.error().at;
    return error;
  }
  static std::optional<Result<T>> read(const nlohmann::json& json) {
    if (!json.is_object() || !json.contains("error")) {
      std::optional<T> value = Codec<T>::read(json);
      if (!value) return std::nullopt;
      return Result<T>(std::move(*value));
    }
    const auto text = [&json](const char* key) {
      const auto found = json.find(key);
      return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    Error error{text("error"), std::nullopt, text("fix")};
    const auto at = json.find("at");
    if (at != json.end() && at->is_number_unsigned()) error.at = at->get<Address>();
    return Result<T>(tl::unexpected(std::move(error)));
  }
};

// Reads the elements of a list of fixed length, one after the other. Past the first that is not
// what was asked for, all are empty.
class AnswerList {
 public:
  AnswerList(const nlohmann::json& json, std::size_t size)
      : json_(json), good_(json.is_array() && json.size() == size) {}

  bool good() const { return good_; }

  template <class T>
  T next() {
    std::optional<T> value;
    if (good_) value = Codec<T>::read(json_[index_++]);
    good_ = good_ && value.has_value();
    return good_ ? std::move(*value) : T{};
  }

 private:
  const nlohmann::json& json_;
  std::size_t index_ = 0;
  bool good_;
};

}  // namespace aotidbg
