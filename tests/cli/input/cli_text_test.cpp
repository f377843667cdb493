#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/values/escaped_text.h"
#include "support/cli.h"
#include "support/has.h"
#include "support/refusal.h"

namespace tune::cli::cli_text_test {
namespace {

using Words = std::vector<std::string>;

/// Characters that act on a terminal, in YAML's double quotes: an escape sequence, a C1 control, a turn of direction.
constexpr const char* kHostile = "\\x1b]0;owned\\x07\\u009b31m\\u202egpj\\u200b";
constexpr const char* kShown = "\\x1b]0;owned\\x07\\u009b31m\\u202egpj\\u200b";

/// What others wrote, as it reaches terminals, logs and files.
class Text : public testing::Test {
 protected:
  /// Runs tune and looks that nothing hidden is in what it says.
  Result tune(const Words& arguments, int code) {
    const Result result = sandbox_.tune(arguments);
    EXPECT_EQ(result.code, code) << with_escapes(result.out + result.err);
    EXPECT_EQ(with_escapes(result.out), result.out);
    EXPECT_EQ(with_escapes(result.err), result.err);
    EXPECT_FALSE(has(result.out + result.err, "json.exception")) << result.err;
    EXPECT_FALSE(has(result.out + result.err, "unexpected: ")) << result.err;
    return result;
  }
  void refuses(const std::string& yaml, const std::string& complaint) {
    sandbox_.write("bad.yaml", yaml);
    EXPECT_EQ(refusal(sandbox_, {"bad.yaml", "--tune", "--output", "best"}), "tune: error: " + complaint + "\n");
  }

  Sandbox sandbox_;
};

TEST_F(Text, NamesAndValuesAreShownEscaped) {
  sandbox_.write_script(fmt::format("{{T: [1, 2], MODE: [\"{}\", plain]}}", kHostile));
  sandbox_.write("bench.yaml", fmt::format("{}measure: {{max_seconds: 0.1}}\n",
                                           sandbox_.read("bench.yaml").replace(6, 5, fmt::format("\"{}\"", kHostile))));
  const Result result = tune({"bench.yaml", "--tune", "--verbose", "--output", "best"}, 0);
  EXPECT_TRUE(has(result.out, std::string("Tuning [") + kShown)) << result.out;
  EXPECT_TRUE(has(result.out, std::string("MODE=") + kShown)) << result.out;
}

TEST_F(Text, TheFilesHoldWhatTheTerminalEscapes) {
  sandbox_.write_script(fmt::format("{{T: 1, MODE: \"{}\"}}", kHostile));
  tune({"bench.yaml", "--tune", "--output", "best"}, 0);
  EXPECT_TRUE(has(sandbox_.read("best.csv"), "\x1b]0;owned\x07\xc2\x9b"));
  EXPECT_TRUE(has(sandbox_.read("best.yaml"), fmt::format("MODE: \"{}\"", kHostile)));
  const int runs = sandbox_.script_runs();
  const Result again = tune({"best.yaml", "--dry-run"}, 0);
  EXPECT_TRUE(has(again.out, "Number of valid specs: 1"));
  tune({"bench.yaml", "--tune", "--output", "best"}, 0);
  EXPECT_EQ(sandbox_.script_runs(), runs) << "the journal knows the value again";
}

TEST_F(Text, WhatCompilersAndProgramsSayIsShownEscaped) {
  sandbox_.write("source.x", "");
  sandbox_.write(
      "fails.yaml",
      "name: x\nfile: source.x\nparams: {P: 1}\n"
      "build: {command: [sh, -c, 'printf \"\\033[31merror\\302\\233 \\342\\200\\256 \\377 bad\\n\" >&2; exit 1', "
      "'{defines}']}\n");
  const Result result = tune({"fails.yaml", "--verbose", "--output", "best"}, 1);
  EXPECT_TRUE(has(result.out, "\\x1b[31merror\\u009b \\u202e")) << result.out;
  sandbox_.write("bench.sh", "printf '\\033[31mwrong\\302\\233 \\342\\200\\256 \\377\\n' >&2; exit 1\n");
  sandbox_.write("bench.yaml", "name: x\nfile: bench.sh\nparams: {P: 1}\nrun: [sh, '{file}', '{args}']\n");
  const Result program = tune({"bench.yaml", "--verbose", "--output", "run"}, 1);
  EXPECT_TRUE(has(program.out, "\\x1b[31mwrong\\u009b \\u202e")) << program.out;
}

TEST_F(Text, PathsAndKeysAreShownEscapedInComplaints) {
  sandbox_.write("x.py", "");
  const Result path = tune({"no\x1b[31m\xe2\x80\xae.yaml"}, 2);
  EXPECT_TRUE(has(path.err, "no\\x1b[31m\\u202e.yaml: there is no such file")) << path.err;
  refuses("name: x\nfile: x.py\nparams: {T: 1}\n\"\\x1b[2J\\nkey\": 1\n",
          "bad.yaml:4: unknown key '\\x1b[2J\\nkey' in the tuning file");
}

TEST_F(Text, AJournalsFieldsAreShownEscaped) {
  sandbox_.write_script("{T: [1, 2]}");
  tune({"bench.yaml", "--tune", "--output", "best"}, 0);
  std::string journal = sandbox_.read("best.jsonl");
  for (auto at = journal.find("\"name\":\"bench\""); at != std::string::npos; at = journal.find("\"name\":\"bench\""))
    journal.replace(at, 14, "\"name\":\"be\\u001b[31m\\nnch\"");
  sandbox_.write("hostile.jsonl", journal);
  const Result result = tune({"--simulate", "hostile.jsonl", "--tune"}, 0);
  EXPECT_TRUE(has(result.out, "Tuning [be\\x1b[31m\\nnch] from [hostile.jsonl]")) << result.out;
}

TEST_F(Text, ATuningFileIsUtf8WithoutControls) {
  refuses("name: x\nfile: \xff.py\nparams: {T: 1}\n", "bad.yaml:2: the byte \\xff is no UTF-8; save the file as UTF-8");
  refuses("name: x\nfile: x.py\nparams: {T: a\x04}\n",
          "bad.yaml:3: the character \\x04 cannot stand in YAML; write it in double quotes, as \"\\x04\"");
  refuses("name: x\nfile: \"x\\0.py\"\nparams: {T: 1}\n",
          "bad.yaml:2: the character \\0 ends arguments and file names; remove it");
  refuses("name: x\nfile: \"x\\N.py\"\nparams: {T: 1}\n",
          "bad.yaml:2: the escapes \\N and \\_ are not supported here; write \\u0085 or \\u00a0, or \\\\ if you mean a "
          "backslash");
}

TEST_F(Text, T1sRangesOfOtherThanIntegersAreRefusedWithTheirLine) {
  for (const char* values : {"range(1.5, 4)", "range(x)", "range()", "[i for i in range(1, 2, 0)]", "[1, {a: b: c}"}) {
    sandbox_.write("t1.json", fmt::format("{{\"ConfigurationSpace\": {{\"TuningParameters\": [\n"
                                          "{{\"Name\": \"x\", \"Values\": \"{}\"}}]}},\n"
                                          "\"KernelSpecification\": {{\"Language\": \"CUDA\"}}}}\n",
                                          values));
    const Result result = tune({"t1.json", "--dry-run"}, 2);
    EXPECT_TRUE(has(result.err, fmt::format("tune: error: t1.json:2: '{}' is no list of values", values)))
        << values << ": " << result.err;
  }
}

TEST_F(Text, QuotedPlaceholdersAreRefused) {
  sandbox_.write("bench.py", "");
  const std::string file = "name: x\nfile: bench.py\nparams: {P: [\"$(touch owned)\"]}\nrun: ";
  const auto complaint = [](const std::string& where) {
    return fmt::format(
        "bad.yaml:4: {{args}} in run is {}, where the shell would execute parts of its value; {}: tune quotes the "
        "value itself; or write run as a list: [program, '{{args}}']",
        where, where == "inside quotes" ? "remove the quotes" : "move it out of there");
  };
  refuses(file + "'python3 {file} \"{args}\"'\n", complaint("inside quotes"));
  refuses(file + "\"python3 {file} '{args}'\"\n", complaint("inside quotes"));
  refuses(file + "|\n  python3 {file} \"$(echo ' {args} ')\"\n", complaint("inside quotes"));
  refuses(file + "'python3 {file} `echo {args}`'\n", complaint("inside backquotes"));
  refuses(file + "'python3 {file} \\{args}'\n", complaint("behind a backslash"));
  refuses(file + "'python3 {file} ${X:-{args}}'\n", complaint("inside an expansion"));
  refuses(file + "'eval python3 bench.py {args}'\n", complaint("behind eval"));
  refuses(
      file + "[sh, -c, -e, 'python3 bench.py {args}']\n",
      "bad.yaml:4: {args} in run is in the text of a script, where the shell would execute parts of its value; write "
      "run as one string, or give it to the script as an argument: [sh, -c, 'program \"$@\"', sh, '{args}']");
  refuses(file + "|\n  python3 {file} <<E\n  {args}\n  E\n", complaint("in a here-document"));
  EXPECT_FALSE(has(fmt::format("{}", fmt::join(sandbox_.files(), " ")), "owned"));
}

TEST_F(Text, APlaceholderAsAWordOfItsOwnKeepsItsValue) {
  sandbox_.write("bench.sh", "echo \"$1\" >> seen.txt; echo '{\"time\": 1e-3, \"ok\": true}'\n");
  for (const char* run : {"'sh {file} {args}'", "[sh, '{file}', '{args}']", "'x=$(sh {file} {args}); echo \"$x\"'",
                          "[sh, -c, 'sh \"$@\"', sh, '{file}', '{args}']"}) {
    sandbox_.write(
        "bench.yaml",
        fmt::format("name: x\nfile: bench.sh\nparams: {{P: [\"$(touch owned) `id` \\\"'x\"]}}\nrun: {}\n", run));
    tune({"bench.yaml", "--tune", "--no-finals", "--output", "best"}, 0);
    EXPECT_EQ(sandbox_.read("seen.txt"), "--P=$(touch owned) `id` \"'x\n") << run;
    sandbox_.write("seen.txt", "");
  }
  EXPECT_FALSE(has(fmt::format("{}", fmt::join(sandbox_.files(), " ")), "owned"));
}

TEST_F(Text, AFolderWithADollarGivesABestFileThatReadsBack) {
  sandbox_.write_script("{T: [2, 1]}");
  std::filesystem::create_directories(sandbox_.folder() / "do$lar #1");
  for (const char* name : {"bench.sh", "bench.yaml"})
    std::filesystem::rename(sandbox_.folder() / name, sandbox_.folder() / "do$lar #1" / name);
  tune({"do$lar #1/bench.yaml", "--tune", "--output", "out/best"}, 0);
  EXPECT_TRUE(has(sandbox_.read("out/best.yaml"), "file: '../do$$lar #1/bench.sh'\n"))
      << sandbox_.read("out/best.yaml");
  tune({"out/best.yaml", "--tune", "--output", "again"}, 0);
  EXPECT_TRUE(has(sandbox_.read("again.yaml"), "file: 'do$$lar #1/bench.sh'\n")) << sandbox_.read("again.yaml");
}

TEST_F(Text, NoLibrarysWordsAreInWhatIsSaidOfADamagedFile) {
  sandbox_.write_script("{T: 1}");
  sandbox_.write("best.jsonl", "{\"command\":[],\"record\":\"run\",\"protocol\":1}\n");
  EXPECT_TRUE(has(tune({"bench.yaml", "--tune", "--output", "best"}, 2).err,
                  "best.jsonl:1: this is no journal of tune; choose another --output PREFIX"));
  EXPECT_EQ(tune({"--simulate", "best.jsonl"}, 2).err,
            "tune: error: best.jsonl:1: this is no record of a journal: the key 'hello' is missing\n");
  sandbox_.write("other.jsonl", "{\"record\":\"run\",\"protocol\":1,\"hello\":{\"event\":\"loaded\"}}\n");
  EXPECT_EQ(tune({"--simulate", "other.jsonl"}, 2).err,
            "tune: error: other.jsonl:1: this is no record of a journal: what it calls hello is another message\n");
  sandbox_.write("deep.jsonl", "{\"record\":\"run\",\"hello\":" + std::string(200'000, '[') + "\n");
  tune({"--simulate", "deep.jsonl"}, 2);
  sandbox_.write("short.csv", "mesh_idx,name,status,met (ms),max_error,stage\n0,x,ok,1,,\n");
  EXPECT_EQ(tune({"--simulate", "short.csv"}, 2).err,
            "tune: error: short.csv:1: the column 'min (ms)' is missing behind 'met (ms)'\n");
}

}  // namespace
}  // namespace tune::cli::cli_text_test
