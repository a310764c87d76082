// SPDX-License-Identifier: BSD-3-Clause
//
// What a word that the user has begun to type may become, for hosts that complete words.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace aotidbg {

// `before`: the words typed so far, the command's name first. `word`: the one that was begun, which
// may be empty. Gives whole words: names of commands, options, and values where they are few.
// `takes_file`: the host's commands name a core first (see Grammar).
std::vector<std::string> completions(std::span<const std::string> before, std::string_view word,
                                     bool takes_file = false);

}  // namespace aotidbg
