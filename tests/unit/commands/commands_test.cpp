// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <sstream>

#include "common/arch/x86_64.h"
#include "common/commands/command.h"
#include "common/report/json.h"
#include "tests/support/fake_target.h"
#include "tests/unit/commands/fake_analysis.h"
#include "tests/unit/report/sample.h"

namespace aotidbg {
namespace {

using Arguments = std::vector<std::string>;

// Two kernels with code, the second one faulting.
std::vector<KernelReport> two_kernels() {
  KernelReport first;
  first.name = "cpp_fused_addmm_1";
  first.kind = "cpp";
  first.device = "cpu";
  first.address = 0x9000;
  first.size = 0x100;
  KernelReport second;
  second.name = "cpp_fused_add_embedding_0";
  second.kind = "cpp";
  second.device = "cpu";
  second.faulting = true;
  second.address = 0x8000;
  return {first, second};
}

class Commands : public testing::Test {
 protected:
  Commands() {
    FakeAnalysis& fake = fake_analysis();
    fake = FakeAnalysis();
    fake.report = sample::embedding_crash();
    fake.models = fake.report.models;
    fake.kernels = two_kernels();
    fake.tensor = sample::tensor();
    target_.add_thread(7, {{*register_slot("rdi"), 0x5000}});
    target_.add_thread(8, {{*register_slot("rdi"), 0x6000}});
    target_.stop(7, 11, 1, 0x10);
    host_.host = "test";
    host_.prompt = "aoti";
    host_.target = [this]() -> Result<Target*> { return &target_; };
    folder_ =
        std::filesystem::path(testing::TempDir()) / fmt::format("aotidbg_commands_{}", ::getpid());
    std::filesystem::create_directories(folder_);
  }
  ~Commands() override { std::filesystem::remove_all(folder_); }

  CommandOutput run(const Arguments& arguments) { return run_command(host_, arguments); }

  // The sentence of a command that has to fail; it must be one printable line.
  std::string refusal(const Arguments& arguments) {
    const CommandOutput output = run(arguments);
    EXPECT_EQ(output.status, Status::failed) << output.text;
    EXPECT_EQ(output.text.find('\n'), std::string::npos) << output.text;
    EXPECT_FALSE(output.text.empty());
    return output.text;
  }

  Json json(Arguments arguments) {
    arguments.emplace_back("--json");
    const CommandOutput output = run(arguments);
    EXPECT_EQ(output.status, Status::report) << output.text;
    return Json::parse(output.text, nullptr, false);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static std::string content(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  FakeTarget target_;
  HostContext host_;
  std::filesystem::path folder_;
};

TEST_F(Commands, ShowTheWholeCrash) {
  const CommandOutput output = run({"inspect"});
  EXPECT_EQ(output.status, Status::report);
  EXPECT_EQ(output.text.find("Verdict    cpp_fused_add_embedding_0 read row 8589934592"), 0U);
  EXPECT_EQ(json({"inspect"})["tool"]["host"], "test");
}

TEST_F(Commands, EveryAnswerSatisfiesThePublishedSchema) {
  const std::vector<Arguments> all = {{"models"},  {"constants"}, {"inputs"},
                                      {"kernels"}, {"fault"},     {"tensor", "emb.weight"},
                                      {"doctor"},  {"help"},      {"version"}};
  target_.add_gap({"the core was cut short", 0x7000, "raise the limit"});
  std::string files;
  for (const Arguments& arguments : all) {
    const std::string file = path(arguments[0] + ".json");
    std::ofstream(file) << json_text(json(arguments));
    files += " " + file;
  }
  const std::string validate =
      fmt::format("{0} {1}/tests/support/json_schema.py {1}/docs/report.schema.json",
                  AOTIDBG_TEST_PYTHON, AOTIDBG_TEST_SOURCE);
  EXPECT_EQ(std::system((validate + " --definition answer" + files).c_str()), 0);
  std::ofstream(path("inspect.json")) << json_text(json({"inspect"}));
  EXPECT_EQ(std::system((validate + " " + path("inspect.json")).c_str()), 0);
}

TEST_F(Commands, HelpIsWhatOneGetsWithoutAWord) {
  const std::string help = run({}).text;
  EXPECT_EQ(help, run({"help"}).text);
  EXPECT_EQ(help, run({"--help"}).text);
  for (const CommandInfo& info : commands()) {
    EXPECT_NE(help.find(fmt::format("\n  {} ", info.name)), std::string::npos) << info.name;
  }
}

TEST_F(Commands, EachHasHelpWithItsOptionsAndAnExample) {
  host_.target = nullptr;  // help needs no process
  for (const CommandInfo& info : commands()) {
    const std::string name(info.name);
    const CommandOutput output = run({"help", name});
    EXPECT_EQ(output.status, Status::report) << name;
    EXPECT_EQ(output.text, run({name, "--help"}).text);
    EXPECT_EQ(output.text, run({name, "-h", "--json"}).text);
    EXPECT_EQ(output.text.find("usage: aoti " + name), 0U) << output.text;
    EXPECT_NE(output.text.find("\nexample:\n  aoti " + name), std::string::npos) << output.text;
    EXPECT_NE(output.text.find("--output FILE"), std::string::npos) << output.text;
  }
}

TEST_F(Commands, NameThemselvesAndWhatTheyKnow) {
  host_.target = nullptr;
  const std::string text = run({"version"}).text;
  EXPECT_NE(text.find(fmt::format("aotidbg {}, in test", AOTIDBG_VERSION)), std::string::npos);
  EXPECT_NE(text.find("elfutils 0."), std::string::npos) << text;
  EXPECT_EQ(json({"version"})["layouts"].type(), Json::value_t::array);
  EXPECT_EQ(run({"--version"}).text, text);
}

TEST_F(Commands, RefuseWithOneSentenceThatNamesTheNearest) {
  EXPECT_EQ(refusal({"inspekt"}), "there is no command 'inspekt': did you mean 'inspect'?");
  EXPECT_EQ(refusal({"constatns"}), "there is no command 'constatns': did you mean 'constants'?");
  EXPECT_EQ(refusal({"xyzzy"}), "there is no command 'xyzzy': 'aoti help' lists them");
  EXPECT_EQ(refusal({"help", "fualt"}), "there is no command 'fualt': did you mean 'fault'?");
  EXPECT_EQ(refusal({"inspect", "--jsno"}),
            "'inspect' has no option '--jsno': did you mean '--json'?");
  EXPECT_EQ(refusal({"inspect", "--out=x"}),
            "'inspect' has no option '--out': did you mean '--output'?");
  EXPECT_EQ(refusal({"inspect", "--frobnicate"}), "'inspect' has no option '--frobnicate'");
  EXPECT_EQ(refusal({"fault", "--all-threads"}), "'fault' has no option '--all-threads'");
  EXPECT_EQ(refusal({"inspect", "--model"}), "--model needs a value: --model N");
  EXPECT_EQ(refusal({"inspect", "--output"}), "--output needs a value: --output FILE");
  EXPECT_EQ(refusal({"inspect", "--output", "--json"}), "--output needs a value: --output FILE");
  EXPECT_EQ(refusal({"inspect", "--model", "one"}), "--model takes a number from 0, not 'one'");
  EXPECT_EQ(refusal({"inspect", "--model", "-1"}), "--model takes a number from 0, not '-1'");
  EXPECT_EQ(refusal({"inspect", "--model", "99999999999999999999"}),
            "--model takes a number from 0, not '99999999999999999999'");
  EXPECT_EQ(refusal({"inspect", "--columns", "12"}),
            "--columns takes a number from 40 to 10000, not '12'");
  EXPECT_EQ(refusal({"inspect", "--color", "blue"}),
            "--color takes auto, always or never, not 'blue'");
  EXPECT_EQ(refusal({"inspect", "--thread", "0"}), "--thread takes a number from 1, not '0'");
  EXPECT_EQ(refusal({"inspect", "--thread", "99"}), "there is no thread 99: this process has 7, 8");
  EXPECT_EQ(refusal({"inspect", "--force"}), "--force goes with --output FILE");
  EXPECT_EQ(refusal({"inspect", "core"}), "'inspect' takes no 'core'");
  EXPECT_EQ(refusal({"constants", "a", "b"}), "'constants' takes one GLOB, not also 'b'");
  EXPECT_EQ(refusal({"tensor"}), "'tensor' needs NAME|REGISTER|ADDRESS");
  EXPECT_EQ(refusal({"tensor", "a", "--values", "4097"}),
            "--values takes a number from 0 to 4096, not '4097'");
  EXPECT_EQ(refusal({"a\x1b[2J\nb"}),
            "there is no command 'a\\x1b[2J\\nb': 'aoti help' lists them");
}

TEST_F(Commands, SayWhyThereIsNoProcess) {
  host_.target = []() -> Result<Target*> {
    return fail("no process: nothing is stopped", 0x10, "run the program, or open a core");
  };
  EXPECT_EQ(refusal({"inspect"}),
            "no process: nothing is stopped (at 0x10); run the program, or open a core");
  host_.target = nullptr;
  EXPECT_EQ(refusal({"inspect"}), "there is no process to look at");
}

TEST_F(Commands, TurnEveryExceptionIntoASentence) {
  fake_analysis().thrown = std::make_exception_ptr(std::bad_alloc());
  EXPECT_EQ(refusal({"inspect"}),
            "there was not enough memory for this command; nothing was changed");
  fake_analysis().thrown = std::make_exception_ptr(std::runtime_error("broken\nhere"));
  EXPECT_EQ(refusal({"models"}),
            "the command failed inside the tool: broken\\nhere; please report it");
  fake_analysis().thrown = std::make_exception_ptr(42);
  EXPECT_EQ(refusal({"doctor"}), "the command failed inside the tool; please report it");
  fake_analysis().thrown = nullptr;
  EXPECT_EQ(run({"inspect"}).status, Status::report) << "the lock is free again";
}

TEST_F(Commands, SayWhenThereIsNoAotiState) {
  fake_analysis().report = sample::not_aoti();
  fake_analysis().models.clear();
  for (const char* name :
       {"inspect", "models", "constants", "inputs", "kernels", "fault", "doctor"}) {
    EXPECT_EQ(run({name}).status, Status::no_aoti) << name;
    EXPECT_EQ(run({name, "--json"}).status, Status::no_aoti) << name;
  }
  fake_analysis().report.models = sample::embedding_crash().models;
  EXPECT_EQ(run({"inspect"}).status, Status::report) << "a model that did not crash is a report";
}

TEST_F(Commands, PassOnWhoseStackTheUserWants) {
  run({"inspect"});
  EXPECT_FALSE(fake_analysis().options->thread.has_value());
  host_.selected_thread = 8;
  run({"inspect", "--all-threads", "--model", "0"});
  EXPECT_EQ(fake_analysis().options->thread, 8);
  EXPECT_TRUE(fake_analysis().options->all_threads);
  EXPECT_TRUE(fake_analysis().options->scan) << "models are numbered as `models` does, which scans";
  run({"fault", "--thread", "7"});
  EXPECT_EQ(fake_analysis().options->thread, 7);
}

TEST_F(Commands, ChooseColumnsAndColours) {
  host_.columns = 80;
  const std::string narrow = run({"inspect"}).text;
  EXPECT_EQ(narrow, run({"inspect", "--columns", "80", "--color", "never"}).text);
  EXPECT_NE(narrow, run({"inspect", "--columns", "120"}).text);
  EXPECT_EQ(narrow.find('\x1b'), std::string::npos);
  EXPECT_NE(run({"inspect", "--color", "always"}).text.find('\x1b'), std::string::npos);
  host_.terminal_colors = true;
  EXPECT_NE(run({"inspect"}).text.find('\x1b'), std::string::npos);
  EXPECT_EQ(run({"inspect", "--color", "never"}).text.find('\x1b'), std::string::npos);
  run({"inspect", "--output", path("plain.txt")});
  EXPECT_EQ(content(path("plain.txt")).find('\x1b'), std::string::npos);
}

TEST_F(Commands, ListModelsAndChooseOneByItsNumber) {
  fake_analysis().models.push_back(fake_analysis().models[0]);
  fake_analysis().models[1].package = "second";
  EXPECT_EQ(json({"models"})["models"].size(), 2U);
  EXPECT_TRUE(fake_analysis().options->scan);
  const Json one = json({"models", "--model", "1"});
  ASSERT_EQ(one["models"].size(), 1U);
  EXPECT_EQ(one["models"][0]["package"], "second");
  EXPECT_EQ(refusal({"models", "--model", "2"}),
            "there is no model 2: this process has 2 models, counted from 0");
  for (const char* command : {"inspect", "constants", "doctor"}) {
    EXPECT_EQ(refusal({command, "--model", "7"}),
              "there is no model 7: this process has 1 model, counted from 0");
    EXPECT_EQ(json({command, "--model", "0"})["models"].size(), 1U);
  }
  for (const char* command : {"inputs", "kernels", "fault"}) {
    EXPECT_EQ(refusal({command, "--model", "0"}),
              fmt::format("'{}' has no option '--model'", command));
  }
  fake_analysis().models.clear();
  fake_analysis().report.models.clear();
  EXPECT_EQ(refusal({"constants", "--model", "0"}),
            "there is no model 0: none was found in this process");
}

TEST_F(Commands, FindConstantsByEitherNameOrPattern) {
  const auto names = [this](const std::string& pattern) {
    std::vector<std::string> found;
    const Json document = json({"constants", pattern});
    for (const Json& constant : document["models"][0]["constants"]) {
      found.push_back(constant["fqn"]);
    }
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("emb.weight"), Names{"emb.weight"});
  EXPECT_EQ(names("emb_weight"), Names{"emb.weight"});
  EXPECT_EQ(names("*weight"), (Names{"emb.weight", "fc.weight"}));
  EXPECT_EQ(names("fc.[bw]*"), (Names{"fc.weight", "fc.bias"}));
  EXPECT_EQ(names("?cale"), Names{"scale"});
  EXPECT_EQ(refusal({"constants", "emb.wieght"}),
            "no constant is named 'emb.wieght': did you mean 'emb.weight'?");
  EXPECT_EQ(refusal({"constants", "zzz*"}), "no constant is named 'zzz*'");
}

TEST_F(Commands, ScanForModelsWhenTheStackHasNone) {
  fake_analysis().report.models.clear();
  EXPECT_EQ(json({"constants"})["models"].size(), 1U);
}

TEST_F(Commands, LimitConstantsUnlessAskedForAll) {
  fake_analysis().report = sample::large();
  EXPECT_NE(run({"constants"}).text.find("and 200 more: aoti constants --all"), std::string::npos);
  EXPECT_EQ(run({"constants", "--all"}).text.find("more:"), std::string::npos);
  EXPECT_EQ(json({"constants"})["models"][0]["constants"].size(), 300U);
}

TEST_F(Commands, ReadTheFirstValuesOfConstantsThatHaveAny) {
  fake_analysis().report.models[0].constants[1].data.reset();
  const Json document = json({"constants", "--values"});
  const Json& constants = document["models"][0]["constants"];
  EXPECT_EQ(constants[0]["values"].size(), 4U);
  EXPECT_EQ(constants[1]["values"].size(), 0U);
  EXPECT_EQ(fake_analysis().tensor_names.size(), 3U);
  EXPECT_EQ(fake_analysis().values, 4U);
}

TEST_F(Commands, FindKernelsByNamePatternAndProgramCounter) {
  EXPECT_EQ(json({"kernels"})["kernels"].size(), 2U);
  EXPECT_NE(run({"kernels"}).text.find("! cpp_fused_add_embedding_0: the fault is in it"),
            std::string::npos);
  EXPECT_EQ(json({"kernels", "*addmm*"})["kernels"][0]["name"], "cpp_fused_addmm_1");
  EXPECT_EQ(json({"kernels", "0x90ff"})["kernels"][0]["name"], "cpp_fused_addmm_1");
  EXPECT_EQ(refusal({"kernels", "0x9100"}), "no generated kernel has code at 0x9100");
  EXPECT_EQ(refusal({"kernels", "cpp_fused_admm_1"}),
            "no generated kernel is named 'cpp_fused_admm_1': did you mean 'cpp_fused_addmm_1'?");
  fake_analysis().report.kernel->address.reset();
  const std::string one = run({"kernels", "cpp_fused_add_embedding_0"}).text;
  EXPECT_NE(one.find("in_ptr1"), std::string::npos) << "the fault's kernel has bound arguments";
  EXPECT_NE(one.find("0x8000"), std::string::npos) << one;
}

TEST_F(Commands, TakeATensorByNameRegisterOrAddress) {
  run({"tensor", "emb.weight", "--values", "3"});
  EXPECT_EQ(fake_analysis().tensor_names.back(), "emb.weight");
  EXPECT_FALSE(fake_analysis().evaluated.has_value());
  EXPECT_EQ(fake_analysis().values, 3U);
  run({"tensor", "0x7f00"});
  EXPECT_EQ(fake_analysis().evaluated, 0x7f00U);
  run({"tensor", "$rdi"});
  EXPECT_EQ(fake_analysis().evaluated, 0x5000U) << "of the thread that was stopped";
  run({"tensor", "rdi", "--thread", "8"});
  EXPECT_EQ(fake_analysis().evaluated, 0x6000U);
  EXPECT_EQ(refusal({"tensor", "$xyz"}), "there is no register '$xyz'");
  EXPECT_EQ(refusal({"tensor", "$rsi"}), "thread 7 has no value for rsi");
  fake_analysis().tensor = fail("no constant, input or buffer is named 'x'");
  EXPECT_EQ(refusal({"tensor", "x"}), "no constant, input or buffer is named 'x'");
}

TEST_F(Commands, AskTheHostForItsVariablesFirst) {
  host_.evaluate = [](const std::string& text) -> Result<Address> {
    if (text == "$rdi") return 0x1234;
    if (text == "weights") return 0x5678;
    return fail("no such variable");
  };
  run({"tensor", "$rdi"});
  EXPECT_EQ(fake_analysis().evaluated, 0x1234U) << "of the frame that is selected";
  run({"tensor", "weights"});
  EXPECT_EQ(fake_analysis().evaluated, 0x5678U);
  run({"tensor", "$rdi", "--thread", "8"});
  EXPECT_EQ(fake_analysis().evaluated, 0x6000U) << "the user asked for a thread";
  run({"tensor", "emb.weight"});
  EXPECT_FALSE(fake_analysis().evaluated.has_value());
}

TEST_F(Commands, DoctorListsGapsAndFiles) {
  target_.add_gap({"the core was cut short", 0x7000, "raise the limit"});
  Module wrapper;
  wrapper.path = "/tmp/w.so";
  wrapper.file_problem = "the file is gone";
  target_.add_module(wrapper);
  const std::string text = run({"doctor"}).text;
  EXPECT_NE(text.find("the core was cut short (at 0x7000)"), std::string::npos) << text;
  EXPECT_NE(text.find("raise the limit"), std::string::npos) << text;
  EXPECT_NE(text.find("missing /tmp/w.so: the file is gone"), std::string::npos) << text;
  EXPECT_NE(text.find("give it with --package FILE"), std::string::npos) << text;
  const Json document = json({"doctor"});
  EXPECT_EQ(document["files"][0]["state"], "missing");
  EXPECT_EQ(document["gaps"][0]["at"], "0x7000");
}

TEST_F(Commands, OpenTheFileThatTheUserNames) {
  FileArguments asked;
  host_.prompt = "aotidbg";
  host_.open = [&](const FileArguments& file) -> Result<Target*> {
    asked = file;
    if (file.core == "bad") return fail("'bad' is no core file");
    return &target_;
  };
  EXPECT_EQ(run({"inspect", "core.1", "--exe", "a.out", "--sysroot=/mnt"}).status, Status::report);
  EXPECT_EQ(asked.core, "core.1");
  EXPECT_EQ(asked.executable, "a.out");
  EXPECT_EQ(asked.sysroot, "/mnt");
  run({"inspect", "--search", "a", "core.1", "--search", "b", "--package", "m.pt2"});
  EXPECT_EQ(asked.core, "core.1");
  EXPECT_EQ(asked.search, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(asked.packages, std::vector<std::string>{"m.pt2"});
  EXPECT_FALSE(asked.pid.has_value());
  run({"tensor", "--pid", "12", "emb.weight"});
  EXPECT_EQ(asked.pid, 12);
  EXPECT_EQ(asked.core, "");
  EXPECT_EQ(fake_analysis().tensor_names.back(), "emb.weight");
  EXPECT_EQ(refusal({"inspect", "--pid", "0"}),
            "--pid takes a number from 1 to 2147483647, not '0'");
  EXPECT_EQ(refusal({"inspect", "core.1", "--pid", "12"}),
            "'inspect' takes a core or --pid, not both");
  EXPECT_EQ(refusal({"inspect", "--pid", "12", "--exe", "a.out"}),
            "--exe goes with a core, not with --pid: a running process shows its own files");
  run({"tensor", "core.2", "emb.weight", "--values", "2"});
  EXPECT_EQ(asked.core, "core.2");
  EXPECT_EQ(fake_analysis().tensor_names.back(), "emb.weight");
  EXPECT_EQ(refusal({"inspect"}), "'inspect' needs a core file, or --pid PID");
  EXPECT_EQ(refusal({"inspect", "bad"}), "'bad' is no core file");
  EXPECT_EQ(refusal({"inspect", "core.1", "more"}), "'inspect' takes no 'more'");
  EXPECT_EQ(run({"help"}).text.find("usage: aotidbg COMMAND (CORE | --pid PID)"), 0U);
  EXPECT_NE(run({"help", "tensor"}).text.find("aotidbg tensor core emb.weight --values 4"),
            std::string::npos);
  EXPECT_EQ(run({"version"}).status, Status::report) << "needs no file";
}

TEST_F(Commands, WriteTheAnswerIntoANewFile) {
  const std::string file = path("report.json");
  const CommandOutput output = run({"inspect", "--json", "--output", file});
  EXPECT_EQ(output.status, Status::report);
  EXPECT_EQ(content(file), run({"inspect", "--json"}).text);
  EXPECT_EQ(output.text, fmt::format("wrote {} bytes to {}\n", content(file).size(), file));
}

TEST_F(Commands, NeverReplaceAFileWithoutForce) {
  const std::string file = path("mine.txt");
  std::ofstream(file) << "precious";
  fake_analysis().options.reset();
  EXPECT_EQ(refusal({"inspect", "--output", file}),
            fmt::format("'{}' exists and was left as it is; give --force to replace it", file));
  EXPECT_EQ(content(file), "precious");
  EXPECT_FALSE(fake_analysis().options.has_value()) << "said before the work, not after it";
}

TEST_F(Commands, ReplaceAFileWithForceAndKeepItsModeAndLinks) {
  const std::string file = path("old.txt");
  std::ofstream(file) << "old";
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  ASSERT_EQ(::symlink(file.c_str(), path("link").c_str()), 0);
  EXPECT_EQ(run({"inspect", "--output", path("link"), "--force"}).status, Status::report);
  EXPECT_EQ(content(file).find("Verdict"), 0U);
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  struct stat status{};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0640U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2)
      << "nothing else is left in the folder";
}

TEST_F(Commands, RefuseOutputsThatAreNoFiles) {
  EXPECT_EQ(refusal({"inspect", "--output", folder_.string(), "--force"}),
            fmt::format("'{}' is no regular file", folder_.string()));
  EXPECT_EQ(refusal({"inspect", "--output", "/dev/null", "--force"}),
            "'/dev/null' is no regular file");
  EXPECT_EQ(
      refusal({"inspect", "--output", path("none/x.txt")}),
      fmt::format("cannot write '{}': there is no folder '{}'", path("none/x.txt"), path("none/")));
  std::ofstream(path("file")) << "x";
  EXPECT_EQ(refusal({"inspect", "--output", path("file") + "/x"}),
            fmt::format("cannot write '{}/x': Not a directory", path("file")));
}

TEST_F(Commands, KeepNothingOfAnOutputThatFailed) {
  std::ofstream(path("old.txt")) << "old";
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit tight{100, before.rlim_max};  // a write beyond it fails, once the signal is ignored
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  const CommandOutput made = run({"inspect", "--output", path("new.txt")});
  const CommandOutput replaced = run({"inspect", "--output", path("old.txt"), "--force"});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);

  EXPECT_EQ(made.status, Status::failed);
  EXPECT_EQ(made.text, fmt::format("cannot write '{}': File too large", path("new.txt")));
  EXPECT_EQ(replaced.status, Status::failed);
  EXPECT_EQ(content(path("old.txt")), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1)
      << "no partial file is left";
}

}  // namespace
}  // namespace aotidbg
