// SPDX-License-Identifier: BSD-3-Clause
//
// Names for people. The C++ runtime spells a mangled name out (Itanium C++ ABI, 5.1); `brief` then
// drops what makes libtorch's names fill a screen: return types, parameters, template arguments.
#include <cxxabi.h>

#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>

#include "common/elf/symbols.h"

namespace aotidbg {
namespace {

// The runtime's demangler gives up far earlier; longer input is not worth its recursion.
constexpr std::size_t kLongestMangled = 16U << 10;

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// One pass over a demangled name. Anything that it does not understand makes it give up, and then
// the whole name is shown: too long is better than wrong.
class BriefName {
 public:
  explicit BriefName(std::string_view full) : full_(full) {}

  std::optional<std::string> make() {
    for (const std::string_view prefix : kPrefixes) {
      if (rest().starts_with(prefix)) {
        prefix_ = prefix;
        at_ = prefix.size();
        break;
      }
    }
    while (at_ < full_.size()) {
      if (!step()) return std::nullopt;
    }
    if (name_.empty()) return std::nullopt;
    return prefix_ + name_;
  }

 private:
  static constexpr std::array<std::string_view, 10> kPrefixes = {"vtable for ",
                                                                 "typeinfo for ",
                                                                 "typeinfo name for ",
                                                                 "VTT for ",
                                                                 "guard variable for ",
                                                                 "non-virtual thunk to ",
                                                                 "virtual thunk to ",
                                                                 "covariant return thunk to ",
                                                                 "TLS init function for ",
                                                                 "TLS wrapper function for "};
  static constexpr std::string_view kAnonymous = "(anonymous namespace)";

  std::string_view rest() const { return full_.substr(at_); }

  bool step() {
    const char c = full_[at_];
    if (starts_operator()) return copy_operator();
    switch (c) {
      case '<':
        return skip_template_arguments();
      case '(':
        return parenthesis();
      case '{':
        return braces();
      case '[':
        return bracket();
      case ' ':
        return space();
      default:
        name_ += c;
        ++at_;
        return true;
    }
  }

  bool starts_operator() const {
    constexpr std::string_view kWord = "operator";
    if (!rest().starts_with(kWord)) return false;
    if (at_ > 0 && is_name_char(full_[at_ - 1])) return false;
    return at_ + kWord.size() < full_.size() && !is_name_char(full_[at_ + kWord.size()]);
  }

  // Length of an operator's symbol at `at_` (behind the word), 0 for a conversion.
  std::size_t operator_symbol() const {
    static constexpr std::array<std::string_view, 46> kSymbols = {
        "()",  "[]", " new[]", " new", " delete[]", " delete", " co_await", "<=>", "<<=", ">>=",
        "->*", "->", "<<",     ">>",   "<=",        ">=",      "==",        "!=",  "&&",  "||",
        "++",  "--", "+=",     "-=",   "*=",        "/=",      "%=",        "^=",  "&=",  "|=",
        "+",   "-",  "*",      "/",    "%",         "^",       "&",         "|",   "~",   "!",
        "=",   "<",  ">",      ",",    "\"\"",      "?"};
    for (const std::string_view symbol : kSymbols) {
      if (rest().starts_with(symbol)) return symbol.size();
    }
    return 0;
  }

  bool copy_operator() {
    constexpr std::size_t kWord = 8;
    name_ += rest().substr(0, kWord);
    at_ += kWord;
    if (const std::size_t size = operator_symbol(); size != 0) {
      const bool literal = rest().starts_with("\"\"");
      name_ += rest().substr(0, size);
      at_ += size;
      // operator"" _km(...)
      while (literal && at_ < full_.size() && full_[at_] != '(' && full_[at_] != '<') {
        name_ += full_[at_++];
      }
      // "operator< <int>(...)": the space keeps the two apart.
      if (rest().starts_with(" <")) ++at_;
      return true;
    }
    // A conversion: " std::vector<int>(...)", up to its own parameter list.
    while (at_ < full_.size() && full_[at_] != '(') {
      if (full_[at_] == '<') {
        if (!skip_template_arguments()) return false;
      } else {
        name_ += full_[at_++];
      }
    }
    return true;
  }

  bool skip_template_arguments() {
    std::size_t depth = 0;
    while (at_ < full_.size()) {
      const char c = full_[at_];
      if (starts_operator()) {
        at_ += 8;
        at_ += operator_symbol();
        continue;
      }
      if (c == '(') {
        if (!skip_parentheses()) return false;
        continue;
      }
      ++at_;
      if (c == '<') ++depth;
      if (c == '>' && --depth == 0) return true;
    }
    return false;
  }

  bool skip_parentheses() {
    std::size_t depth = 0;
    while (at_ < full_.size()) {
      const char c = full_[at_++];
      if (c == '(') ++depth;
      if (c == ')' && --depth == 0) return true;
    }
    return false;
  }

  bool parenthesis() {
    if (rest().starts_with(kAnonymous)) {
      name_ += kAnonymous;
      at_ += kAnonymous.size();
      return true;
    }
    // "void (*f(int))(char)": a function that returns one.
    if (rest().starts_with("(*") || rest().starts_with("(&")) return false;
    if (!skip_parentheses()) return false;
    return skip_qualifiers();
  }

  // What may stand between a parameter list and "::", a clone or the end.
  bool skip_qualifiers() {
    static constexpr std::array<std::string_view, 5> kQualifiers = {" const", " volatile", " &&",
                                                                    " &", " noexcept"};
    for (bool again = true; again;) {
      again = false;
      for (const std::string_view qualifier : kQualifiers) {
        if (!rest().starts_with(qualifier)) continue;
        at_ += qualifier.size();
        again = true;
      }
    }
    return true;
  }

  // "{lambda(int)#1}" becomes "{lambda#1}".
  bool braces() {
    while (at_ < full_.size()) {
      const char c = full_[at_];
      if (c == '(') {
        if (!skip_parentheses()) return false;
        continue;
      }
      name_ += c;
      ++at_;
      if (c == '}') return true;
      if (c == '{' && name_.size() > 1 && name_[name_.size() - 2] == '{') return false;
    }
    return false;
  }

  // "[abi:cxx11]" goes.
  bool bracket() {
    const std::size_t end = full_.find(']', at_);
    if (end == std::string_view::npos) return false;
    at_ = end + 1;
    return true;
  }

  bool space() {
    constexpr std::string_view kClone = " [clone ";
    if (rest().starts_with(kClone)) {
      const std::size_t end = full_.find(']', at_);
      if (end == std::string_view::npos) return false;
      name_ += rest().substr(kClone.size(), end - at_ - kClone.size());
      at_ = end + 1;
      return true;
    }
    // So far it was the return type.
    name_.clear();
    ++at_;
    return true;
  }

  std::string_view full_;
  std::size_t at_ = 0;
  std::string prefix_;
  std::string name_;
};

struct Free {
  void operator()(char* text) const { std::free(text); }
};

}  // namespace

std::string demangle(const std::string& name, bool brief) {
  if (!name.starts_with("_Z") || name.size() > kLongestMangled) return name;
  int status = 0;
  const std::unique_ptr<char, Free> full(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status));
  if (!full) return name;
  if (!brief) return full.get();
  return brief_name(full.get());
}

std::string brief_name(const std::string& full) { return BriefName(full).make().value_or(full); }

}  // namespace aotidbg
