// SPDX-License-Identifier: BSD-3-Clause
#include "common/target/snapshot_note.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace aotidbg {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kSchema = "aotidbg.snapshot";
constexpr std::size_t kMostKeptThreads = 1U << 18;
constexpr std::size_t kDeepest = 32;

constexpr std::array kPurposes = {Purpose::object, Purpose::module, Purpose::loader,
                                  Purpose::quoted, Purpose::value};

// -- Writing

// [gap, size, gap, size, ...]: each start is counted from the end before it.
Json ranges_json(const RangeSet& set) {
  Json out = Json::array();
  Address end = 0;
  for (const AddressRange& range : set.ranges()) {
    out.push_back(range.start - end);
    out.push_back(range.size());
    end = range.end;
  }
  return out;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json error_json(const Error& error) {
  Json out = {{"what", error.what}};
  if (error.at) out["at"] = *error.at;
  if (!error.fix.empty()) out["fix"] = error.fix;
  return out;
}

// As in chmod.
constexpr unsigned kReadable = 4;
constexpr unsigned kWritable = 2;
constexpr unsigned kExecutable = 1;

unsigned flags_of(const Region& region) {
  return (region.readable ? kReadable : 0U) | (region.writable ? kWritable : 0U) |
         (region.executable ? kExecutable : 0U);
}

// Each region is [gap, size, flags, path, file offset, dumped]; path is an index, or -1.
Json regions_json(const std::vector<Region>& regions, Json& paths) {
  std::map<std::string, int> indices;
  Json out = Json::array();
  Address end = 0;
  for (const Region& region : regions) {
    int index = -1;
    if (!region.path.empty()) {
      const auto [known, is_new] = indices.emplace(region.path, static_cast<int>(indices.size()));
      if (is_new) paths.push_back(region.path);
      index = known->second;
    }
    out.push_back(Json::array({region.start - end, region.size(), flags_of(region), index,
                               region.file_offset, region.dumped}));
    end = region.end;
  }
  return out;
}

Json module_json(const Module& module) {
  Json out = {{"path", module.path},
              {"start", module.start},
              {"end", module.end},
              {"bias", module.bias},
              {"build_id", text_or_null(module.build_id)},
              {"file", !module.has_file()    ? "missing"
                       : module.file_assumed ? "assumed"
                                             : "proven"}};
  if (module.deleted) out["deleted"] = true;
  if (!module.file_problem.empty()) out["problem"] = module.file_problem;
  return out;
}

// -- Reading

// How deep brackets are nested, outside of texts. A copy of a value calls itself for each level.
std::size_t deepest_nesting(std::string_view text) {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_text = !in_text;
    if (in_text) {
      if (c == '\\') ++i;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth != 0) {
      --depth;
    }
  }
  return deepest;
}

// A walk over untrusted JSON. The first thing that is wrong is kept; what is read after it is
// empty.
class Reader {
 public:
  bool good() const { return problem_.empty(); }
  const std::string& problem() const { return problem_; }

  void refuse(std::string_view what) {
    if (problem_.empty()) problem_ = what;
  }

  // A member; a null when it is not there.
  static const Json& member(const Json& object, const char* key) {
    static const Json kNothing;
    const auto found = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && found != object.end() ? *found : kNothing;
  }

  std::uint64_t number(const Json& value, std::string_view what) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    refuse(fmt::format("{} is no number", what));
    return 0;
  }

  std::string text(const Json& value, std::string_view what) {
    if (value.is_null()) return {};
    if (value.is_string()) return value.get<std::string>();
    refuse(fmt::format("{} is no text", what));
    return {};
  }

  static bool flag(const Json& value) { return value.is_boolean() && value.get<bool>(); }

  const Json& list(const Json& value, std::string_view what) {
    static const Json kNone = Json::array();
    // The document outlives the reader.
    if (value.is_array()) return value;  // NOLINT(bugprone-return-const-ref-from-parameter)
    if (!value.is_null()) refuse(fmt::format("{} is no list", what));
    return kNone;
  }

  // `end` goes from one range to the next; they may touch, but not go back or wrap.
  AddressRange range(const Json& gap, const Json& size, Address& end, std::string_view what) {
    AddressRange range;
    const std::uint64_t distance = number(gap, what);
    const std::uint64_t bytes = number(size, what);
    if (bytes == 0 || __builtin_add_overflow(end, distance, &range.start) ||
        __builtin_add_overflow(range.start, bytes, &range.end)) {
      refuse(fmt::format("a range of {} is empty or goes round the end of memory", what));
      return {};
    }
    end = range.end;
    return range;
  }

  RangeSet ranges(const Json& value, std::string_view what) {
    const Json& numbers = list(value, what);
    if (numbers.size() % 2 != 0) refuse(fmt::format("{} has half a range", what));
    std::vector<AddressRange> found;
    Address end = 0;
    for (std::size_t i = 0; good() && i + 1 < numbers.size(); i += 2) {
      found.push_back(range(numbers[i], numbers[i + 1], end, what));
    }
    return RangeSet(std::move(found));
  }

 private:
  std::string problem_;
};

std::vector<Region> read_regions(Reader& reader, const Json& note) {
  const Json& paths = reader.list(Reader::member(note, "paths"), "the list of paths");
  std::vector<Region> regions;
  Address end = 0;
  for (const Json& item : reader.list(Reader::member(note, "regions"), "the list of mappings")) {
    constexpr std::string_view kWhat = "the list of mappings";
    if (!item.is_array() || item.size() != 6) {
      reader.refuse("a mapping has not six numbers");
      break;
    }
    Region region;
    const AddressRange range = reader.range(item[0], item[1], end, kWhat);
    region.start = range.start;
    region.end = range.end;
    const std::uint64_t flags = reader.number(item[2], kWhat);
    region.readable = (flags & kReadable) != 0;
    region.writable = (flags & kWritable) != 0;
    region.executable = (flags & kExecutable) != 0;
    region.file_offset = reader.number(item[4], kWhat);
    region.dumped = reader.number(item[5], kWhat);
    if (item[3] != -1) {
      const std::uint64_t index = reader.number(item[3], kWhat);
      if (index >= paths.size()) reader.refuse("a mapping's path is not in the list of paths");
      if (reader.good()) region.path = reader.text(paths[index], "a path");
    }
    if (region.dumped > range.size()) reader.refuse("a mapping has more bytes than it is long");
    if (!reader.good()) break;
    regions.push_back(std::move(region));
  }
  return regions;
}

Module read_module(Reader& reader, const Json& item) {
  Module module;
  module.path = reader.text(Reader::member(item, "path"), "a module's path");
  module.start = reader.number(Reader::member(item, "start"), "a module's start");
  module.end = reader.number(Reader::member(item, "end"), "a module's end");
  module.bias = reader.number(Reader::member(item, "bias"), "a module's load bias");
  module.build_id = reader.text(Reader::member(item, "build_id"), "a build id");
  module.deleted = Reader::flag(Reader::member(item, "deleted"));
  module.file_problem = reader.text(Reader::member(item, "problem"), "a file's problem");
  const std::string file = reader.text(Reader::member(item, "file"), "a module's file");
  module.file_was_read = file == "proven" || file == "assumed";
  module.file_assumed = file == "assumed";
  if (!module.file_was_read && file != "missing")
    reader.refuse("a module's file is in no known state");
  if (module.start >= module.end) reader.refuse("a module ends before it starts");
  return module;
}

std::vector<Module> read_modules(Reader& reader, const Json& note) {
  std::vector<Module> modules;
  Address last = 0;
  for (const Json& item : reader.list(Reader::member(note, "modules"), "the list of modules")) {
    modules.push_back(read_module(reader, item));
    if (modules.back().start < last) reader.refuse("the modules are not in order");
    last = modules.back().start;
    if (!reader.good()) break;
  }
  return modules;
}

ProcessInfo read_process(Reader& reader, const Json& note) {
  ProcessInfo process;
  process.kind = TargetKind::snapshot;
  const Json& item = Reader::member(note, "process");
  const std::string kind = reader.text(Reader::member(item, "kind"), "the process's kind");
  process.saved_from = kind == "live" ? TargetKind::live : TargetKind::core;
  if (kind != "live" && kind != "core")
    reader.refuse("it was saved of neither a process nor a core");
  const std::uint64_t pid = reader.number(Reader::member(item, "pid"), "the process's id");
  if (pid > std::numeric_limits<std::int64_t>::max())
    reader.refuse("the process's id is too large");
  process.pid = static_cast<std::int64_t>(pid);
  process.executable = reader.text(Reader::member(item, "executable"), "the program's path");
  process.cut_short = Reader::flag(Reader::member(item, "cut_short"));
  return process;
}

std::vector<Error> read_gaps(Reader& reader, const Json& note) {
  std::vector<Error> gaps;
  for (const Json& item : reader.list(Reader::member(note, "gaps"), "the list of gaps")) {
    Error gap;
    gap.what = reader.text(Reader::member(item, "what"), "a gap");
    gap.fix = reader.text(Reader::member(item, "fix"), "a gap's remedy");
    const Json& at = Reader::member(item, "at");
    if (!at.is_null()) gap.at = reader.number(at, "a gap's address");
    gaps.push_back(std::move(gap));
  }
  return gaps;
}

void read_threads(Reader& reader, const Json& json, SnapshotNote& note) {
  const Json& stopped = Reader::member(json, "stopped_thread");
  if (!stopped.is_null()) {
    const std::uint64_t id = reader.number(stopped, "the stopped thread");
    if (id > std::numeric_limits<std::int64_t>::max()) reader.refuse("a thread's id is too large");
    note.stopped = static_cast<ThreadId>(id);
  }
  // [[thread, slot, slot, ...], ...]
  const Json& all = reader.list(Reader::member(json, "unknown_registers"), "the unknown registers");
  if (all.size() > kMostKeptThreads) reader.refuse("it has too many threads");
  for (const Json& item : all) {
    if (!item.is_array() || item.empty() || item.size() > Registers::kCount + 1) {
      reader.refuse("a thread's unknown registers are no list");
      break;
    }
    std::vector<std::size_t> slots;
    for (std::size_t i = 1; i < item.size(); ++i) {
      slots.push_back(reader.number(item[i], "an unknown register"));
    }
    note.unknown_registers[static_cast<ThreadId>(reader.number(item[0], "a thread's id") &
                                                 std::numeric_limits<std::int64_t>::max())] =
        std::move(slots);
  }
}

std::vector<QuotedValue> read_quoted(Reader& reader, const Json& note) {
  std::vector<QuotedValue> quoted;
  for (const Json& item : reader.list(Reader::member(note, "quoted"), "the quoted values")) {
    QuotedValue value;
    value.what = reader.text(Reader::member(item, "what"), "a quoted value's name");
    value.value = reader.text(Reader::member(item, "value"), "a quoted value");
    Address end = 0;
    value.range = reader.range(Reader::member(item, "at"), Reader::member(item, "bytes"), end,
                               "the quoted values");
    quoted.push_back(std::move(value));
    if (!reader.good()) break;
  }
  return quoted;
}

}  // namespace

RangeSet SnapshotNote::all_known() const {
  std::vector<AddressRange> all;
  for (const auto& [purpose, set] : known) {
    all.insert(all.end(), set.ranges().begin(), set.ranges().end());
  }
  return RangeSet(std::move(all));
}

std::string_view purpose_name(Purpose purpose) {
  switch (purpose) {
    case Purpose::object:
      return "objects";
    case Purpose::module:
      return "modules";
    case Purpose::loader:
      return "loader";
    case Purpose::quoted:
      return "quoted";
    case Purpose::value:
      return "values";
  }
  return {};
}

std::string write_snapshot_note(const SnapshotNote& note) {
  Json out = {{"schema", fmt::format("{}/{}", kSchema, SnapshotNote::kVersion)},
              {"tool", note.tool},
              {"with_values", note.with_values}};
  out["process"] = {{"kind", note.process.saved_from == TargetKind::live ? "live" : "core"},
                    {"pid", static_cast<std::uint64_t>(note.process.pid)},
                    {"executable", text_or_null(note.process.executable)},
                    {"cut_short", note.process.cut_short}};
  out["paths"] = Json::array();
  out["regions"] = regions_json(note.regions, out["paths"]);
  out["modules"] = Json::array();
  for (const Module& module : note.modules) out["modules"].push_back(module_json(module));
  out["gaps"] = Json::array();
  for (const Error& gap : note.gaps) out["gaps"].push_back(error_json(gap));
  if (note.stopped) out["stopped_thread"] = static_cast<std::uint64_t>(*note.stopped);
  for (const auto& [thread, slots] : note.unknown_registers) {
    Json item = Json::array({static_cast<std::uint64_t>(thread)});
    for (const std::size_t slot : slots) item.push_back(slot);
    out["unknown_registers"].push_back(std::move(item));
  }
  for (const auto& [purpose, set] : note.known) {
    out["known"][std::string(purpose_name(purpose))] = ranges_json(set);
  }
  out["stacks"] = ranges_json(note.stacks);
  out["quoted"] = Json::array();
  for (const QuotedValue& value : note.quoted) {
    out["quoted"].push_back({{"what", value.what},
                             {"value", value.value},
                             {"at", value.range.start},
                             {"bytes", value.range.size()}});
  }
  out["answers"] = note.answers;
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<SnapshotNote> read_snapshot_note(std::string_view text) {
  const auto damaged = [](std::string_view why) {
    return fail(fmt::format("the note of this snapshot is damaged: {}", why), std::nullopt,
                "save or copy the snapshot again");
  };
  if (deepest_nesting(text) > kDeepest) return damaged("it is nested too deep");
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return damaged("it is no JSON");
  Reader reader;
  const std::string schema = reader.text(Reader::member(json, "schema"), "its schema");
  if (!schema.starts_with(fmt::format("{}/", kSchema))) return damaged("it names no schema");
  if (schema != fmt::format("{}/{}", kSchema, SnapshotNote::kVersion)) {
    return fail(fmt::format("this snapshot is of the form {}, and this aotidbg reads {}/{}", schema,
                            kSchema, SnapshotNote::kVersion),
                std::nullopt, "open it with the aotidbg that saved it, or a newer one");
  }
  SnapshotNote note;
  note.tool = reader.text(Reader::member(json, "tool"), "the version of the tool");
  note.with_values = Reader::flag(Reader::member(json, "with_values"));
  note.process = read_process(reader, json);
  note.regions = read_regions(reader, json);
  note.modules = read_modules(reader, json);
  note.gaps = read_gaps(reader, json);
  read_threads(reader, json, note);
  const Json& known = Reader::member(json, "known");
  for (const Purpose purpose : kPurposes) {
    const std::string name(purpose_name(purpose));
    const RangeSet set = reader.ranges(Reader::member(known, name.c_str()), name);
    if (!set.empty()) note.known[purpose] = set;
  }
  note.stacks = reader.ranges(Reader::member(json, "stacks"), "stacks");
  note.quoted = read_quoted(reader, json);
  if (!Reader::member(json, "answers").is_object()) reader.refuse("it has no answers");
  if (!reader.good()) return damaged(reader.problem());
  for (const auto& item : json["answers"].items()) {
    note.answers.emplace(item.key(), std::move(item.value()));
  }
  return note;
}

}  // namespace aotidbg
