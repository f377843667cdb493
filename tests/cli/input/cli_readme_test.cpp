#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "platform/store/store.h"
#include "support/has.h"
#include "support/terminal.h"

namespace tune::cli::cli_readme_test {
namespace {

std::string page(const std::string& file) { return platform::read_file(std::string(TUNE_SOURCE_DIR) + "/" + file); }

// The text between ```text and ``` of a page in the block that has this command.
std::string transcript(const std::string& file, const std::string& command) {
  const std::string text = page(file);
  const auto begin = text.rfind("```text\n", text.find("$ " + command)), end = text.find("```", begin + 3);
  EXPECT_NE(end, std::string::npos);
  return text.substr(begin, end - begin);
}

// The block of a page in this language that begins with this line.
std::string block(const std::string& file, const std::string& language, const std::string& line) {
  const std::string text = page(file), open = "```" + language + "\n";
  const auto begin = text.find(open + line);
  EXPECT_NE(begin, std::string::npos) << file << " has no block that begins with " << line;
  if (begin == std::string::npos) return "";
  return text.substr(begin + open.size(), text.find("```", begin + 3) - begin - open.size());
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream text(line);
  return {std::istream_iterator<std::string>(text), {}};
}

// A result's lines by what they are: numbers masked, the table's rows as one, and without what depends on the figures
// (progress before the verdict, how many rows there are, ties and early stops with their legends, whether there is
// room for `iters` and `+- %`, and how much there is for the title of the names).
std::vector<std::string> structure(const std::string& text) {
  static const std::regex kNumber("[0-9]+(\\.[0-9]+)?");
  static const std::regex kKept(
      "-{80}|Tuning .*|problem: .*|Number of .*| mesh_idx .*| +([0-9]+|-) .*|top_spec_idx.*|Best .*|params:|  \\S+: "
      ".*|command: "
      ".*|Elapsed .*|pruned .*");
  std::vector<std::string> lines;
  std::istringstream all(text);
  bool in_sentence = false;  // which a terminal breaks, and then goes on indented
  for (std::string line; std::getline(all, line);) {
    const bool is_verdict = line.starts_with("DECIDED: ") || line.starts_with("UNDECIDED: ");
    if (is_verdict) lines.emplace_back("verdict");
    if (lines.empty()) continue;
    in_sentence = is_verdict || line.starts_with("note: ") || (in_sentence && line.starts_with("  "));
    if (in_sentence) continue;
    if (!std::regex_match(line, kKept)) continue;
    const auto words = words_of(line);
    if (words[0] == "mesh_idx") {
      std::string columns;
      for (const std::string& word : words)
        columns +=
            word == words[1] || word == "note" || word == "iters" || word == "+-" || word == "%" ? "" : word + " ";
      line = columns;
    } else if (words[0] == "-" || std::isdigit(static_cast<unsigned char>(words[0][0])) != 0) {
      line = "row";
    } else if (words[0].back() == ':' && line.starts_with("  ")) {
      line = words[0];
    } else {
      line = std::regex_replace(line, kNumber, "N");
    }
    if (line != "row" || lines.back() != "row") lines.push_back(line);
  }
  return lines;
}

// On a busy machine, a run may lose its default to a disturbance, and with it a column.
TEST(Manual, ShowsWhatARealRunPrints) {
  const auto shown = structure(transcript("docs/tutorial.md", "tune --yaml"));
  EXPECT_GT(shown.size(), 20u);
  std::vector<std::string> printed;
  for (int runs = 0; runs < 3 && printed != shown; ++runs) {
    Sandbox sandbox;
    InTerminal real(sandbox,
                    {"--yaml", std::string(TUNE_SOURCE_DIR) + "/configs/gemm_cpu.yaml", "--tune", "--top", "10",
                     "--output", "out", "-m", "64", "-n", "64", "-k", "64"},
                    80);
    ASSERT_EQ(real.code(), 0) << real.text();
    printed = structure(without_escapes(real.text()));
  }
  EXPECT_EQ(shown, printed);
}

// docs/run_picture.py draws it.
TEST(Manual, ThePictureIsOfTheRunInTheTutorial) {
  const std::string picture = std::regex_replace(page("docs/run.svg"), std::regex("<[^>]*>"), "");
  std::istringstream run(transcript("docs/tutorial.md", "tune --yaml"));
  std::string line;
  std::getline(run, line);  // that opens the block
  int lines = 0;
  for (std::size_t at = 0; std::getline(run, line); ++lines) {
    at = picture.find(line, at);
    ASSERT_NE(at, std::string::npos) << "the picture lacks, or has elsewhere: " << line;
    at += line.size();
  }
  EXPECT_GT(lines, 40);
}

TEST(Manual, ShowsHowACommandIsTuned) {
  Sandbox sandbox;
  std::string numbers;
  for (int i = 0; i < 20000; ++i) numbers += std::to_string(i) + "\n";
  sandbox.write("numbers.txt", numbers);
  const std::string shown = transcript("docs/programs.md", "tune --tune --param");
  const auto line = shown.find("$ tune ") + 7;
  const Result real = sandbox.tune(words_of(shown.substr(line, shown.find('\n', line) - line)));
  ASSERT_EQ(real.code, 0) << real.err;
  EXPECT_GT(structure(shown).size(), 10u);
  EXPECT_EQ(structure(shown), structure(real.out));
  sandbox.write("sort.yaml", block("docs/programs.md", "yaml", "name: sort"));
  const Result file = sandbox.tune({"sort.yaml", "--tune", "--no-finals"});
  EXPECT_EQ(file.code, 0) << file.err;
  EXPECT_TRUE(has(file.out, "Number of valid specs: 9\n")) << file.out;
  EXPECT_FALSE(has(file.out, "\nfailed: ")) << file.out;
}

// The kernel that the tutorial leaves to the reader.
constexpr const char* kTiledGemm = R"(
extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k, int threads) {
#pragma omp parallel for num_threads(threads)
  for (int row = 0; row < m; row += MR)
    for (int col = 0; col < n; col += NR) {
      float sums[MR][NR] = {};
      for (int p = 0; p < k; ++p)
        for (int i = 0; i < MR; ++i)
          for (int j = 0; j < NR; ++j) sums[i][j] += A[(row + i) * k + p] * B[p * n + col + j];
      for (int i = 0; i < MR; ++i)
        for (int j = 0; j < NR; ++j) C[(row + i) * n + col + j] = sums[i][j];
    }
}
)";

TEST(Manual, TheCommandsOfTheTutorialWork) {
  Sandbox sandbox;
  sandbox.write("gemm.cpp", kTiledGemm);
  const std::regex large("1024"), medium("512"), threads("\\[1, 2\\]");
  const std::string file = std::regex_replace(block("docs/tutorial.md", "yaml", "name: gemm"), large, "64");
  sandbox.write("gemm.yaml", std::regex_replace(file, threads, "[1]") + "measure: {max_seconds: 0.05}\n");
  std::istringstream lines(block("docs/tutorial.md", "sh", "tune gemm.yaml --dry-run"));
  int commands = 0;
  for (std::string line; std::getline(lines, line); ++commands) {
    auto words = words_of(std::regex_replace(line.substr(5, line.find("  #") - 5), medium, "32"));
    if (std::ranges::count(words, "--tune") > 0) words.insert(words.end(), {"--finals-budget", "0.2s"});
    const Result result = sandbox.tune(words);
    EXPECT_EQ(result.code, 0) << line << "\n" << result.out << result.err;
    EXPECT_FALSE(has(result.out, "\nfailed: ")) << line << "\n" << result.out;
  }
  EXPECT_EQ(commands, 11);
}

// A command of a page, and what the page shows that it prints.
struct Shown {
  std::vector<std::string> words;
  std::optional<std::string> printed;
};

// The commands of the manual that need nothing but the repository.
std::vector<Shown> commands_on_recordings() {
  std::vector<Shown> commands;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TUNE_SOURCE_DIR) + "/docs")) {
    if (entry.path().extension() != ".md") continue;
    const std::string text = platform::read_file(entry.path());
    static const std::regex kCommand("\n(\\$ )?tune (.*configs/recorded/.*)\n");
    for (std::sregex_iterator at(text.begin(), text.end(), kCommand), end; at != end; ++at) {
      Shown shown{words_of((*at)[2]), {}};
      const auto next = static_cast<std::size_t>(at->position() + at->length());
      if ((*at)[1].matched) shown.printed = text.substr(next, text.find("```", next) - next);
      commands.push_back(shown);
    }
  }
  return commands;
}

// `#name` of every heading of a page, as GitHub makes them.
std::set<std::string> anchors(const std::filesystem::path& page) {
  std::set<std::string> all;
  std::istringstream lines(platform::read_file(page));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("#")) continue;
    std::string anchor = "#";
    for (const char c : line.substr(line.find(' ') + 1))
      if (c == ' ' || c == '-' || c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0)
        anchor += c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    all.insert(anchor);
  }
  return all;
}

TEST(Manual, ItsCommandsOnRecordingsPrintWhatItShows) {
  Sandbox sandbox;
  for (const char* folder : {"configs", "demo"})
    std::filesystem::create_directory_symlink(std::string(TUNE_SOURCE_DIR) + "/" + folder, sandbox.folder() / folder);
  int transcripts = 0;
  for (const auto& [words, printed] : commands_on_recordings()) {
    const Result result = sandbox.tune(words);
    EXPECT_EQ(result.code, 0) << words.back() << "\n" << result.err;
    EXPECT_NE(result.out, "");
    if (!printed) continue;
    EXPECT_EQ(result.out, *printed);
    ++transcripts;
  }
  EXPECT_GE(transcripts, 7);
}

// The steps of "Your own kernel", as they stand there: each command and what it prints, with other numbers.
TEST(Readme, ShowsTheStepsFromAKernelToALibrary) {
  Sandbox sandbox;
  sandbox.write("softmax.cpp", page("demo/softmax.cpp"));
  const auto dedented = [](const std::string& text) { return std::regex_replace(text, std::regex("\n   "), "\n"); };
  const auto plain = [](const std::string& text) { return std::regex_replace(masked(text), std::regex(" +"), " "); };
  const auto shown = [&](const std::string& command) {
    const std::string text = plain(dedented(transcript("README.md", command)));
    return text.substr(text.find('\n', text.find("$ ")) + 1);
  };
  const auto printed = [&](std::vector<std::string> words) {
    const Result result = sandbox.tune(words);
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    return plain(result.out);
  };
  EXPECT_EQ(shown("tune init"), printed({"init", "softmax.cpp"}));
  EXPECT_EQ(shown("tune softmax.yaml --dry-run"), printed({"softmax.yaml", "--dry-run", "--quiet"}));
  InTerminal tuned(sandbox,
                   {"softmax.yaml", "--tune", "--output", "best/softmax", "--top", "5", "--problem", "rows=64",
                    "--problem", "cols=64", "--filter", "LANES=16"},
                   80);
  ASSERT_EQ(tuned.code(), 0) << tuned.text();
  EXPECT_EQ(structure(dedented(transcript("README.md", "tune softmax.yaml --tune"))),
            structure(without_escapes(tuned.text())));
  const auto without_device = [](const std::string& text) {
    return std::regex_replace(text, std::regex("binary for .*"), "binary");
  };
  EXPECT_EQ(without_device(printed({"package", "best/softmax.yaml", "--yaml", "softmax.yaml", "-o", "softmax"})),
            without_device(shown("tune package")));
}

TEST(Readme, TheExampleOfATuningFileRuns) {
  Sandbox sandbox;
  const Result result =
      sandbox.tune({"--yaml", std::string(TUNE_SOURCE_DIR) + "/configs/example.yaml", "--tune", "--max-evals", "6",
                    "--finals-budget", "0.2s", "-m", "64", "-n", "64", "-k", "64"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out.find("failed"), std::string::npos) << result.out;
}

// Of every relative link of the documents: the file, and the heading behind the #.
TEST(Manual, ItsLinksLeadSomewhere) {
  namespace fs = std::filesystem;
  const fs::path root = TUNE_SOURCE_DIR;
  std::vector<fs::path> pages = {root / "README.md",
                                 root / "demo/README.md",
                                 root / "configs/README.md",
                                 root / "configs/recorded/README.md",
                                 root / "tests/bench/README.md",
                                 root / "tests/campaigns/README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  static const std::regex kLink("\\]\\(([^)#: ]*)(#[^)]*)?\\)");  // and no lambda of C++
  int links = 0;
  for (const fs::path& page : pages) {
    const std::string text = platform::read_file(page);
    for (auto match = std::sregex_iterator(text.begin(), text.end(), kLink); match != std::sregex_iterator(); ++match) {
      ++links;
      const fs::path target = (*match)[1].length() == 0 ? page : page.parent_path() / (*match)[1].str();
      ASSERT_TRUE(fs::exists(target)) << page << ": " << match->str();
      EXPECT_TRUE(!(*match)[2].matched || anchors(target).contains((*match)[2].str())) << page << ": " << match->str();
    }
  }
  EXPECT_GT(links, 100);
}

// What nobody needs in order to do or decide something is not in the manual.
TEST(Manual, IsShort) {
  namespace fs = std::filesystem;
  const fs::path root = TUNE_SOURCE_DIR;
  std::ptrdiff_t words = 0;
  const auto add = [&](const std::string& text) {  // what stands between cells of a table is no word
    const std::vector<std::string> all = words_of(text);
    words += std::ranges::count_if(all, [](const std::string& word) {
      return std::ranges::any_of(word, [](unsigned char c) { return std::isalnum(c) != 0; });
    });
  };
  for (const char* folder : {"docs", "configs", "demo"})
    for (const auto& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".md") add(platform::read_file(entry.path()));
  add(page("README.md"));
  EXPECT_GT(words, 10'000);
  EXPECT_LE(words, 30'000);
  EXPECT_LE(std::ranges::count(page("README.md"), '\n'), 150);
}

TEST(Manual, ChangelogBeginsWithThisVersion) {
  const std::string version = words_of(Sandbox().tune({"--version"}).out).at(1);
  const std::string text = page("docs/changelog.md");
  const auto heading = text.find("\n## ");
  EXPECT_EQ(text.substr(heading + 1, text.find('\n', heading + 1) - heading - 1), "## " + version);
}

TEST(Manual, NamesEveryOption) {
  std::string help = Sandbox().tune({"--help-all"}).out;
  for (const char* command : {"init", "audit", "merge", "lookup", "cover", "export", "package", "retime", "show",
                              "cache", "convert", "diff", "shapes", "report", "kokkos", "agent"})
    help += Sandbox().tune({command, "--help"}).out;
  std::string reference;
  for (const char* name : {"options", "search", "dispatch", "earlier-runs", "replay", "comparing", "report",
                           "workloads", "kokkos", "clusters"})
    reference += page(std::string("docs/") + name + ".md");
  static const std::regex kOption("--[a-z][a-z_-]+");
  int options = 0;
  for (auto match = std::sregex_iterator(help.begin(), help.end(), kOption); match != std::sregex_iterator(); ++match) {
    ++options;
    const bool is_named = has(reference, "`" + match->str()) || has(reference, "`tune agent " + match->str());
    EXPECT_TRUE(is_named) << match->str();
  }
  EXPECT_GT(options, 20);
}

}  // namespace
}  // namespace tune::cli::cli_readme_test
