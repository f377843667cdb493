// Pages of `tune report`: what stands in them, how they look in a browser, and how they follow a run.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <list>
#include <regex>

#include "support/cli.h"
#include "support/has.h"
#include "support/refusal.h"
#include "wire/json.h"

namespace tune::cli::cli_report_test {
namespace {

using Words = std::vector<std::string>;
using nlohmann::json;

const std::string kRecorded = TUNE_SOURCE_DIR "/configs/recorded/";

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const std::size_t begin = text.find(open) + open.size();
  return text.substr(begin, text.find(close, begin) - begin);
}

/// The runs that a page shows.
json data_of(const std::string& page) {
  return json::parse(between(page, R"(<script type="application/json" id="data">)", "</script>"));
}

/// A cache file of Kernel Tuner whose texts would do harm as markup or script.
const std::string kHostile = R"({
"device_name": "<img src=x onerror=harm()>", "kernel_name": "</script><script>harm()</script>", "problem_size": [64],
"tune_params_keys": ["<b>T</b>", "{{data}}"], "tune_params": {"<b>T</b>": ["</title><script>harm()</script>", "\u2028"], "{{data}}": [1]},
"objective": "time",
"cache": {
"a": {"<b>T</b>": "</title><script>harm()</script>", "{{data}}": 1, "time": 2.5, "<!--<script>": 7.0},
"b": {"<b>T</b>": "\u2028", "{{data}}": 1, "time": "</script><svg onload=harm()>"}}
}
)";

class Report : public testing::Test {
 protected:
  std::string page_of(const Words& runs) {
    Words words = {"report"};
    words.insert(words.end(), runs.begin(), runs.end());
    words.insert(words.end(), {"-o", "out/page.html"});
    const Result result = sandbox_.tune(words);
    EXPECT_EQ(result.code, 0) << result.err;
    return sandbox_.read("out/page.html");
  }

  void expect_refusal(const Words& words, int code, const std::string& text) {
    EXPECT_TRUE(has(refusal(sandbox_, words, code), text));
  }

  Sandbox sandbox_;
};

TEST_F(Report, IsOneFileThatNeedsNothingElse) {
  const std::string page = page_of({kRecorded + "gemm_simt_exhaustive_h200.jsonl"});
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(has(page, "default-src 'none'"));
  EXPECT_TRUE(has(page, "connect-src 'none'"));
  const std::regex address(R"(\w+://[^\s"']*)");
  for (std::sregex_iterator at(page.begin(), page.end(), address), end; at != end; ++at)
    EXPECT_EQ(at->str(), "http://www.w3.org/2000/svg") << "that names the kind of element";
  EXPECT_EQ(count_of(page, "<script"), 2);
  EXPECT_EQ(count_of(page, " src="), 0);
  EXPECT_TRUE(has(page, R"(<link rel="icon" href="data:,">)"));
}

TEST_F(Report, HasEverySpecInThePlaceThatTheRunGaveIt) {
  const json run = data_of(page_of({kRecorded + "gemm_simt_exhaustive_h200.jsonl"}))[0];
  EXPECT_EQ(run.at("specs").size(), 476u);
  EXPECT_EQ(run.at("device").at("name"), "NVIDIA H200");
  EXPECT_EQ(run.at("problem"), "4096x4096x4096");
  const Result simulated =
      sandbox_.tune({"--simulate", kRecorded + "gemm_simt_exhaustive_h200.jsonl", "--tune", "--top", "3"});
  const auto best = std::ranges::find_if(run.at("specs"), [](const json& spec) { return spec.value("place", 0) == 1; });
  ASSERT_NE(best, run.at("specs").end());
  EXPECT_TRUE(has(simulated.out, "top_spec_idx: " + std::to_string(best->at("idx").get<int>()) + "\n"));
  EXPECT_TRUE(best->contains("finals"));
  EXPECT_FALSE(run.at("finals")[0].at("rounds").empty());
  EXPECT_EQ(run.at("figures")[0], "clock_mhz");
  EXPECT_EQ(run.at("better")[0], "");
}

TEST_F(Report, TakesObjectiveMetricsAndWorkFromTheTuningFile) {
  const std::string yaml = TUNE_SOURCE_DIR "/configs/gemm_simt.yaml";
  const json run = data_of(page_of({kRecorded + "gemm_simt_exhaustive_h200.jsonl", "--yaml", yaml}))[0];
  EXPECT_EQ(run.at("limits").at("flops"), 2.0 * 4096 * 4096 * 4096);
  EXPECT_EQ(run.at("limits").at("bytes"), 3.0 * 4 * 4096 * 4096);
  EXPECT_GT(run.at("limits").at("peak_flops"), 5e14);
  EXPECT_EQ(run.at("limits").at("bandwidth"), 4814304000000.0);
  EXPECT_EQ(data_of(page_of({kRecorded + "gemm_simt_exhaustive_h200.jsonl"}))[0].at("limits").at("flops"), 0);
}

TEST_F(Report, AJournalTellsTheWorkAndWhenEachSpecWasDone) {
  sandbox_.write_gemm();
  ASSERT_EQ(sandbox_.tune({"--yaml", "gemm.yaml", "--max-evals", "2", "--output", "best"}).code, 0);
  ASSERT_EQ(sandbox_.tune({"--yaml", "gemm.yaml", "--tune", "--finals-budget", "0.2", "--output", "best"}).code, 0);
  const json run = data_of(page_of({"best.jsonl"}))[0];
  EXPECT_EQ(run.at("limits").at("flops"), 2.0 * 64 * 64 * 64);
  EXPECT_EQ(run.at("limits").at("bytes"), 3.0 * 4 * 64 * 64);
  EXPECT_TRUE(run.at("wall_clock").get<bool>());
  EXPECT_TRUE(has(run.at("verdict").at(0).get<std::string>(), "DECIDED: ")) << run.at("verdict");
  double last = 0;
  for (const json& spec : run.at("specs")) {
    EXPECT_GT(spec.at("at"), last);
    last = spec.at("at").get<double>();
  }
  sandbox_.tune({"convert", "best.jsonl", "copy.jsonl"});
  const json copy = data_of(page_of({"copy.jsonl"}))[0];
  EXPECT_EQ(copy.at("limits"), run.at("limits"));
  EXPECT_EQ(copy.at("date"), run.at("date"));
  EXPECT_EQ(copy.at("specs")[0].at("at"), run.at("specs")[0].at("at"));
}

TEST_F(Report, TextsOfOthersBecomeNoMarkup) {
  sandbox_.write("hostile.json", kHostile);
  const std::string page = page_of({"hostile.json"});
  EXPECT_EQ(count_of(page, "<script"), 2);
  EXPECT_EQ(count_of(page, "</script>"), 2);
  for (const char* tag : {"<img", "<b>", "<svg", "<!--", "</title><"}) EXPECT_EQ(count_of(page, tag), 0) << tag;
  const json run = data_of(page)[0];
  EXPECT_EQ(run.at("name"), "</script><script>harm()</script>");
  EXPECT_EQ(run.at("params")[1].at("name"), "{{data}}");
}

TEST_F(Report, TheNameOfThePageBecomesNoMarkupEither) {
  sandbox_.write("run.json", kHostile);
  const Result result = sandbox_.tune({"report", "run.json", "-o", "<img onerror=harm()>&.html"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(has(sandbox_.read("<img onerror=harm()>&.html"), "<title>&lt;img onerror=harm()>&amp;</title>"));
}

TEST_F(Report, ShowsARunInWhichEverySpecFailed) {
  sandbox_.write_script("{SAYS: [dies, garbage]}");
  EXPECT_EQ(sandbox_.tune({"--yaml", "bench.yaml", "--tune", "--output", "out"}).code, 1);
  const json run = data_of(page_of({"out.jsonl"}))[0];
  EXPECT_EQ(run.at("specs").size(), 2u);
  EXPECT_EQ(run.at("reasons").size(), 2u);
  EXPECT_TRUE(run.at("finals").empty());
}

TEST_F(Report, ShowsSeveralRunsAndFormats) {
  const json runs = data_of(page_of({kRecorded + "gemm_simt_exhaustive_h200.jsonl", kRecorded + "hotspot_h200.jsonl"}));
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].at("name"), "hotspot");
  sandbox_.tune({"convert", kRecorded + "hotspot_h200.jsonl", "hotspot.csv"});
  EXPECT_EQ(data_of(page_of({"hotspot.csv"}))[0].at("specs").size(), runs[1].at("specs").size());
}

TEST_F(Report, ShowsSpecsWithDifferentParameters) {
  sandbox_.write_script("[{T: [1, 2]}, {T: [3], U: [1, 2]}]");
  ASSERT_EQ(sandbox_.tune({"--yaml", "bench.yaml", "--output", "out"}).code, 0);
  const json run = data_of(page_of({"out"}))[0];
  EXPECT_EQ(run.at("specs").size(), 4u);
  EXPECT_EQ(run.at("specs")[0].at("values")[1], -1);
}

TEST_F(Report, WithoutANameThePageHasThatOfTheRun) {
  sandbox_.write("gemm/gemm_cache.json", kHostile);
  EXPECT_EQ(sandbox_.tune({"report", "gemm/gemm_cache.json"}).out, "gemm_cache.html: 1 run\n");
  EXPECT_TRUE(has(sandbox_.read("gemm_cache.html"), "<html"));
  EXPECT_EQ(sandbox_.tune({"report", "gemm/gemm_cache.json"}).code, 0) << "a page of its own is replaced";
  sandbox_.write("gemm_cache.html", "mine");
  expect_refusal({"report", "gemm/gemm_cache.json"}, 2,
                 "gemm_cache.html exists and is no page of tune report; name the page with -o");
  EXPECT_EQ(sandbox_.read("gemm_cache.html"), "mine");
}

TEST_F(Report, ABestYamlMeansTheJournalBesideIt) {
  sandbox_.write_script("{T: [1, 2]}");
  ASSERT_EQ(sandbox_.tune({"--yaml", "bench.yaml", "--tune", "--output", "out"}).code, 0);
  EXPECT_EQ(data_of(page_of({"out.yaml"}))[0].at("specs").size(), 2u);
  std::filesystem::rename(sandbox_.folder() / "out.yaml", sandbox_.folder() / "out-M4-N4-K4.yaml");
  EXPECT_EQ(data_of(page_of({"out-M4-N4-K4.yaml"}))[0].at("specs").size(), 2u);
  std::filesystem::rename(sandbox_.folder() / "out-M4-N4-K4.yaml", sandbox_.folder() / "out.yaml");
  std::filesystem::remove(sandbox_.folder() / "out.jsonl");
  expect_refusal({"report", "out.yaml"}, 2,
                 "out.yaml is no run, and there is no journal out.jsonl of it; give the journal or the CSV file");
}

TEST_F(Report, RefusesWhatItCannotShow) {
  sandbox_.write("empty.jsonl", "");
  sandbox_.write("text.jsonl", "hello\n");
  sandbox_.write("run.json", kHostile);
  const auto begins = sandbox_.read("run.json").substr(0, 60);
  sandbox_.write("cut.json", begins);
  expect_refusal({"report", "-o", "page.html"}, 2, "there is no earlier run to show");
  expect_refusal({"report", "nothing.jsonl", "-o", "page.html"}, 2, "nothing.jsonl");
  expect_refusal({"report", "empty.jsonl", "-o", "page.html"}, 2, "empty.jsonl: the recording is empty");
  expect_refusal({"report", "text.jsonl", "-o", "page.html"}, 2, "text.jsonl:1:");
  expect_refusal({"report", "cut.json", "-o", "page.html"}, 2, "cut.json");
  expect_refusal({"report", "run.json", "-o", "run.json"}, 2, "run.json: the output is also an input");
  expect_refusal({"report", "run.json", "-o", "/dev/full"}, 4, "/dev/full");
  expect_refusal({"report", "run.json", "--live", "notaport"}, 2, "'notaport' is no port such as 8080");
  expect_refusal({"report", "run.json", "--live", "192.0.2.1:0"}, 4, "; give an address of this machine");
  expect_refusal({"report", "run.json", "--live", "nowhere:0"}, 2, "'nowhere' is no address such as 127.0.0.1");
}

// In a browser
// ---------------------------------------------------------------------------------------------------------

/// A script of the test that the page's policy takes for the page's own.
std::string with_script(const std::string& page, const std::string& before, const std::string& after) {
  const std::string nonce = between(page, "'nonce-", "'"), open = "<script nonce=\"" + nonce + "\">";
  std::string text = page;
  text.insert(text.find("<title>"), open + before + "</script>");
  text.insert(text.rfind("</body>"), open + after + "</script>");
  return text;
}

// Collects what goes wrong; `tell` is what the test reads in the end.
const std::string kBefore = R"(
const wrong = [];
addEventListener("error", (event) => wrong.push(event.message));
addEventListener("securitypolicyviolation", (event) => wrong.push(event.violatedDirective));
console.error = console.warn = (...words) => wrong.push(words.join(" "));
function harm() { wrong.push("harm was done"); }
const seen = {};
addEventListener("load", () => setTimeout(() => { seen.wrong = wrong;
  document.body.dataset.seen = encodeURIComponent(JSON.stringify(seen)); }, 1500));
)";

class ReportInBrowser : public Report {
 protected:
  void SetUp() override {
    if (std::system("command -v chromium >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "there is no chromium here; apt-get install chromium";
  }

  /// What `script` has put into `seen` once the page has settled.
  json look(const std::string& page, const std::string& script) {
    sandbox_.write("look.html", with_script(page, kBefore, script));
    const std::string folder = sandbox_.folder().string();
    const std::string command = "cd '" + folder + "' && HOME='" + folder +
                                "' timeout 60 chromium --headless --no-sandbox --disable-gpu --no-first-run "
                                "--disable-dev-shm-usage --user-data-dir=profile --window-size=1300,900 "
                                "--virtual-time-budget=5000 --dump-dom 'file://" +
                                folder + "/look.html' 2>/dev/null";
    std::string text;
    FILE* output = ::popen(command.c_str(), "r");
    std::array<char, 65536> part;
    for (std::size_t n; (n = std::fread(part.data(), 1, part.size(), output)) > 0;) text.append(part.data(), n);
    ::pclose(output);
    const std::string seen = between(text, "data-seen=\"", "\"");
    std::string decoded;
    for (std::size_t i = 0; i < seen.size(); ++i)
      if (seen[i] == '%') {
        decoded += static_cast<char>(std::stoi(seen.substr(i + 1, 2), nullptr, 16));
        i += 2;
      } else {
        decoded += seen[i];
      }
    const json found = parse_json(decoded);
    EXPECT_TRUE(found.is_object()) << text.substr(0, 2000);
    return found.is_object() ? found : json::object();
  }
};

TEST_F(ReportInBrowser, DrawsSortsAndFilters) {
  const std::string page =
      page_of({kRecorded + "gemm_simt_isolation_auto_h200.jsonl", kRecorded + "gemm_simt_exhaustive_h200.jsonl",
               "--yaml", TUNE_SOURCE_DIR "/configs/gemm_simt.yaml"});
  const json seen = look(page, R"(
    const said = () => document.querySelector("#specs p").textContent;
    const cell = () => document.querySelectorAll("#specs tbody tr:nth-child(2) td");
    const type = (text) => { const box = document.getElementById("filter"); box.value = text; box.dispatchEvent(new Event("input")); };
    seen.all = said();
    seen.first = cell()[0].textContent;
    const titles = [...document.querySelectorAll("#specs th button")].map((button) => button.textContent);
    seen.titles = titles.slice(2, 4);
    document.querySelectorAll("#specs th button")[1].click();
    document.querySelectorAll("#specs th button")[1].click();
    seen.last = cell()[1].textContent;
    type("TM=8 block_size_x>=16 time<4");
    seen.filtered = said();
    type("NOTHING=1");
    seen.mistake = document.getElementById("filter-said").textContent;
    document.getElementById("reset").click();
    const scroll = document.querySelector(".specs");
    scroll.focus();
    scroll.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true}));
    seen.selected = document.getElementById("detail").textContent;
    setTimeout(() => {
      const svg = document.querySelector("#param svg");
      svg.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight"}));
      seen.pointed = document.querySelector("#param .tip").textContent;
      for (const id of ["param", "heat", "progress", "roofline", "finals", "gauges", "compare"])
        seen[id] = document.querySelectorAll(`#${id} svg`).length;
      seen.limits = [...document.querySelectorAll("#roofline text")].map((text) => text.textContent).join("; ");
      seen.runs = document.querySelectorAll("#runs tbody tr").length;
      document.getElementById("theme").value = "dark";
      document.getElementById("theme").dispatchEvent(new Event("change"));
      seen.dark = getComputedStyle(document.body).backgroundColor;
      dispatchEvent(new Event("beforeprint"));
      seen.printed = document.querySelectorAll("#specs tbody tr").length;
      dispatchEvent(new Event("afterprint"));
      seen.beyond = [];
      for (const width of [1600, 400]) {
        document.documentElement.style.width = width + "px";
        drawCharts();
        while (drawCharts.rest.length) drawNextChart();
        seen.beyond.push(...[...document.querySelectorAll("main *")].filter((e) => !e.closest(".scroll") && !e.hidden &&
            e.getBoundingClientRect().right > width + 0.5).map((e) => e.closest("section").id + ": " + e.textContent));
        if (width === 1600) seen.wide = document.querySelector("#progress svg").getBoundingClientRect().width;
      }
    }, 1000);)");
  EXPECT_EQ(seen.value("wrong", json()), json::array());
  EXPECT_EQ(seen.value("all", ""), "476 of 476 specs");
  EXPECT_EQ(seen.value("titles", json()), json({"TM", "TN"})) << "what matters most comes first";
  EXPECT_EQ(seen.value("first", ""), "1");
  EXPECT_NE(seen.value("last", "0"), "0");
  EXPECT_NE(seen.value("filtered", ""), "476 of 476 specs");
  EXPECT_TRUE(has(seen.value("filtered", ""), " of 476 specs"));
  EXPECT_EQ(seen.value("mistake", ""), "No parameter or column is called NOTHING.");
  EXPECT_TRUE(has(seen.value("selected", ""), "mesh_idx"));
  EXPECT_TRUE(has(seen.value("pointed", ""), " ms"));
  for (const char* chart : {"param", "heat", "progress", "roofline", "finals", "compare"})
    EXPECT_EQ(seen.value(chart, 0), 1) << chart;
  EXPECT_GE(seen.value("gauges", 0), 3);
  for (const char* limit : {"535.3 TFLOPS/s", "4814 GB/s", "vendor", "best of gemm_simt"})
    EXPECT_TRUE(has(seen.value("limits", ""), limit));
  EXPECT_EQ(seen.value("runs", 0), 2);
  EXPECT_EQ(seen.value("dark", ""), "rgb(20, 23, 27)");
  EXPECT_EQ(seen.value("printed", 0), 60);
  EXPECT_EQ(seen.value("beyond", json()), json::array()) << "all fits a telephone, and a wide window";
  EXPECT_GT(seen.value("wide", 0.0), 600);
}

TEST_F(ReportInBrowser, HostileTextsExecuteNothing) {
  sandbox_.write("hostile.json", kHostile);
  const json seen = look(page_of({"hostile.json"}), R"(
    setTimeout(() => { seen.name = document.querySelector("#runs td").textContent; seen.images = document.querySelectorAll("main img, main b").length; }, 800);)");
  EXPECT_EQ(seen.value("wrong", json()), json::array());
  EXPECT_EQ(seen.value("name", ""), "</script><script>harm()</script>");
  EXPECT_EQ(seen.value("images", -1), 0);
}

TEST_F(ReportInBrowser, TwentyThousandSpecsKeepFewRowsInTheDocument) {
  std::string cache =
      R"({"device_name": "big", "kernel_name": "big", "problem_size": [64], "tune_params_keys": ["A", "B"], "tune_params": {)";
  std::string a = "\"A\": [0", b = "], \"B\": [0";
  for (int i = 1; i < 200; ++i) a += "," + std::to_string(i);
  for (int i = 1; i < 100; ++i) b += "," + std::to_string(i);
  cache += a + b + "]}, \"objective\": \"time\", \"cache\": {\n";
  for (int i = 0; i < 20000; ++i) {
    const std::string x = std::to_string(i / 100), y = std::to_string(i % 100);
    cache += (i > 0 ? ",\n\"" : "\"") + x + "," + y + "\": {\"A\": " + x + ", \"B\": " + y +
             ", \"time\": " + std::to_string(1 + i % 977) + "}";
  }
  sandbox_.write("big.json", cache + "}\n}\n");
  const json seen = look(page_of({"big.json"}), R"(
    const rows = () => document.querySelectorAll("#specs tbody tr").length;
    seen.rows = rows();
    document.querySelector(".specs").scrollTop = 300000;
    table.paint();
    seen.scrolled = rows();
    document.getElementById("filter").value = "A>=150";
    takeFilter();
    seen.filtered = document.querySelector("#specs p").textContent;
    setTimeout(() => { seen.elements = document.querySelectorAll("*").length; }, 1000);)");
  EXPECT_EQ(seen.value("wrong", json()), json::array());
  EXPECT_LT(seen.value("rows", 20000), 100);
  EXPECT_LT(seen.value("scrolled", 20000), 100);
  EXPECT_EQ(seen.value("filtered", ""), "5000 of 20000 specs");
  EXPECT_LT(seen.value("elements", 1000000), 30000);
}

// Live
// -----------------------------------------------------------------------------------------------------------------

/// A connection to a server on this machine.
class Client {
 public:
  explicit Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval limit{30, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(const std::string& text) const {
    EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL), std::ssize(text));
  }
  void get(const std::string& target) const { send("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n"); }
  /// All until `end` has come, or the connection ends.
  std::string read_to(const std::string& end) {
    std::array<char, 65536> part;
    while (text_.find(end) == std::string::npos) {
      const ssize_t got = ::recv(socket_, part.data(), part.size(), 0);
      if (got <= 0) break;
      text_.append(part.data(), static_cast<std::size_t>(got));
    }
    const std::size_t at = text_.find(end);
    const std::string read = text_.substr(0, at == std::string::npos ? at : at + end.size());
    text_.erase(0, read.size());
    return read;
  }
  std::string read_all() { return read_to("\r\n\r\nthere is no such line"); }

 private:
  int socket_;
  std::string text_;
};

struct Address {
  int port = 0;
  std::string query;
};

/// Waits for the line `live: http://127.0.0.1:PORT/?token=...`.
Address address_of(const Background& run) {
  std::smatch found;
  std::string said;
  const bool told = eventually([&] {
    said = run.said();
    return std::regex_search(said, found, std::regex(R"(live: http://127\.0\.0\.1:(\d+)/(\?token=[0-9a-f]{32})\n)"));
  });
  EXPECT_TRUE(told) << said;
  return told ? Address{std::stoi(found[1]), found[2]} : Address{};
}

class LiveReport : public Report {
 protected:
  LiveReport() {
    const std::string text = sandbox_.read(kRecorded + "hotspot_h200.jsonl");
    std::size_t end = 0;
    for (int line = 0; line < 10; ++line) end = text.find('\n', end) + 1;
    sandbox_.write("run.jsonl", text.substr(0, end));
    rest_ = text.substr(end);
  }
  std::string rest_;  ///< what the run is yet to write
};

TEST_F(LiveReport, AnswersOnlyThoseWhoKnowTheToken) {
  const Background server(sandbox_, {"report", "run.jsonl", "--live", "0"});
  const Address at = address_of(server);
  const std::string query = at.query;
  const auto answer = [&](const std::string& target) {
    Client client(at.port);
    client.get(target);
    return client.read_all();
  };
  const std::string page = answer("/" + query);
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200 OK"));
  EXPECT_TRUE(has(page, "connect-src 'self'"));
  EXPECT_TRUE(has(page, "Cache-Control: no-store"));
  EXPECT_EQ(data_of(page)[0].at("specs").size(), 9u);
  EXPECT_TRUE(answer("/").starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(answer("/?token=").starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(answer("/events").starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(answer("/other" + query).starts_with("HTTP/1.1 404"));
  EXPECT_TRUE(answer("/../../etc/passwd" + query).starts_with("HTTP/1.1 404"));
  Client poster(at.port);
  poster.send("POST /" + query + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
  EXPECT_TRUE(poster.read_all().starts_with("HTTP/1.1 405"));
  Client broken(at.port);
  broken.send(std::string(20000, 'x'));
  EXPECT_EQ(broken.read_all(), "");
  EXPECT_TRUE(answer("/" + query).starts_with("HTTP/1.1 200 OK")) << "broken requests change nothing";
}

TEST_F(LiveReport, IdleConnectionsKeepNobodyOut) {
  const Background server(sandbox_, {"report", "run.jsonl", "--live", "0"});
  const Address at = address_of(server);
  Client open(at.port);
  open.get("/events" + at.query);
  EXPECT_TRUE(has(open.read_to("\n\n"), "text/event-stream")) << "an open page";
  std::list<Client> idle;
  for (int i = 0; i < 200; ++i) idle.emplace_back(at.port);
  Client client(at.port);
  client.get("/" + at.query);
  EXPECT_TRUE(client.read_all().starts_with("HTTP/1.1 200 OK"));
  std::ofstream(sandbox_.folder() / "run.jsonl", std::ios::app) << rest_;
  EXPECT_TRUE(has(open.read_to("\ndata: "), "event: message"));
}

TEST_F(LiveReport, TellsOpenPagesWhatIsNew) {
  Background server(sandbox_, {"report", "run.jsonl", "--live", "127.0.0.1:0"});
  const auto [port, query] = address_of(server);
  Client page(port);
  page.get("/events" + query);
  EXPECT_TRUE(has(page.read_to("\r\n\r\n"), "text/event-stream"));
  const auto next = [&] { return json::parse(between(page.read_to("]\n\n"), "event: message\ndata: ", "\n\n")); };
  EXPECT_EQ(next()[0].at("specs").size(), 9u);
  const std::size_t line = rest_.find('\n') + 1;
  sandbox_.write("run.jsonl", sandbox_.read("run.jsonl") + rest_.substr(0, line));
  EXPECT_EQ(next()[0].at("specs").size(), 10u);
  server.signal(SIGTERM);
  EXPECT_EQ(server.wait().code, 128 + SIGTERM);
}

TEST_F(LiveReport, WaitsForARunThatHasNotBegun) {
  const Background server(sandbox_, {"report", "later.jsonl", "--live", "0"});
  const auto [port, query] = address_of(server);
  EXPECT_TRUE(eventually([&] { return server.said().find("later.jsonl") != std::string::npos; }));
  EXPECT_TRUE(has(server.said(), "the page waits until it can be shown"));
  Client page(port);
  page.get("/events" + query);
  EXPECT_TRUE(has(page.read_to("\n\n"), "event: message\ndata: []"));
  sandbox_.write("later.jsonl", sandbox_.read("run.jsonl"));
  EXPECT_TRUE(has(page.read_to("]\n\n"), "\"name\":\"hotspot\""));
}

TEST_F(LiveReport, APortInUseIsAClearError) {
  const Background server(sandbox_, {"report", "run.jsonl", "--live", "0"});
  const std::string port = std::to_string(address_of(server).port);
  const std::string text =
      "--live: 127.0.0.1:" + port + " cannot be served: Address already in use; choose another port";
  const Result second = sandbox_.tune({"report", "run.jsonl", "--live", port});
  EXPECT_EQ(second.code, 4);
  EXPECT_TRUE(has(second.err, text));
  sandbox_.write_script("{T: [1]}");
  const Result run = sandbox_.tune({"--yaml", "bench.yaml", "--tune", "--live", port, "--output", "out"});
  EXPECT_EQ(run.code, 4);
  EXPECT_TRUE(has(run.err, text));
  EXPECT_EQ(sandbox_.script_runs(), 0);
}

const Words kSlowRun = {"--tune",   "--param", "T:[1,2]", "--no-finals", "--live", "0",
                        "--output", "out",     "--",      "sleep",       "0.{T}"};

TEST_F(LiveReport, ARunServesItsPageUntilItEnds) {
  Background run(sandbox_, kSlowRun);
  const auto [port, query] = address_of(run);
  Client page(port);
  page.get("/events" + query);
  const std::string stream = page.read_all();
  EXPECT_TRUE(has(stream, "event: end\n"));
  const json last = json::parse(between(stream.substr(stream.rfind("event: message")), "data: ", "\n\n"));
  EXPECT_EQ(last[0].at("specs").size(), 2u);
  EXPECT_TRUE(has(last[0].value("verdict", json::array()).dump(), "UNDECIDED: ")) << "what the run printed first";
  EXPECT_EQ(run.wait().code, 0);
  EXPECT_EQ(sandbox_.processes(), Words());
  EXPECT_EQ(data_of(page_of({"out.jsonl"}))[0].at("specs").size(), 2u);
}

TEST_F(LiveReport, TheServerOfARunThatIsKilledEndsToo) {
  const Background run(sandbox_, kSlowRun);
  address_of(run);
  run.signal(SIGKILL);
  EXPECT_TRUE(eventually([&] { return sandbox_.processes().empty(); }));
}

TEST_F(LiveReport, GoesWithARunThatMeasures) {
  expect_refusal({"--simulate", "run.jsonl", "--tune", "--live", "0"}, 2, "tune report RUN --live PORT");
  sandbox_.write_gemm();
  expect_refusal({"--yaml", "gemm.yaml", "--dry-run", "--live", "0"}, 2, "--live shows a run that measures");
}

}  // namespace
}  // namespace tune::cli::cli_report_test
