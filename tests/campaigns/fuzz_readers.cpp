#include "fuzz_readers.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "commands/commands.h"
#include "commands/results/journal_text.h"
#include "config/reader/device_file.h"
#include "config/reader/filter.h"
#include "config/recorded/best_yaml.h"
#include "config/shapes/shapes.h"
#include "model/values/error.h"
#include "model/values/escaped_text.h"
#include "program/program_result.h"
#include "recording/foreign/kernel_tuner_cache.h"
#include "recording/foreign/t4.h"
#include "recording/journal.h"
#include "recording/recorded_space.h"

namespace tune::fuzz {
namespace fs = std::filesystem;
namespace {

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  return text.str();
}

std::string corpus(const std::string& name) { return text_of(fs::path(TUNE_CORPUS) / name); }

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

/// The first lines of a recorded journal: a run and some trials, and its last one, the finals.
std::string journal_seed(const std::string& name) {
  std::istringstream stream(text_of(fs::path(TUNE_SOURCE_DIR) / "configs/recorded" / name));
  std::string text, last;
  int lines = 0;
  for (std::string line; std::getline(stream, line); ++lines, last = line)
    if (lines < 4) text += line + "\n";
  return text + last.substr(0, 6000) + "\n";
}

std::vector<std::string> tuning_files() {
  std::vector<std::string> texts = {corpus("program.yaml"), corpus("custom.yaml")};
  for (const auto& entry : fs::directory_iterator(fs::path(TUNE_SOURCE_DIR) / "configs"))
    if (entry.path().extension() == ".yaml") texts.push_back(text_of(entry.path()));
  std::ranges::sort(texts);
  return texts;
}

/// Runs what reads a file that is called `file`. Whether it was accepted.
template <class Read>
bool refuses_only_properly(const std::string& file, Read read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    const std::string what = error.what();
    check_message(what);
    if (what.find(file) == std::string::npos) throw Finding("the error does not name its file: " + what);
    return false;
  }
}

config::LoadRules load_options() {
  config::LoadRules options;
  options.file_must_exist = false;
  options.probe = [](Backend) {
    Device device{"fuzz", "1", "sm_90a", {}};
    for (const Backend backend : {Backend::cuda, Backend::cpu, Backend::program})
      for (const std::string_view name : traits_of(backend).device_names)
        device.properties[std::string(name)] = name == "name" ? Value("fuzz") : Value(std::int64_t{64});
    return device;
  };
  options.limits = [probe = options.probe](Backend backend) { return probe(backend); };
  return options;
}

std::vector<Setting> sorted(std::vector<Setting> settings) {
  std::ranges::sort(settings, {}, &Setting::name);
  return settings;
}

std::string settings_text(const std::vector<Setting>& settings) {
  std::string text;
  for (const Setting& setting : sorted(settings))
    text += fmt::format("{}{}={}:{} ", setting.run_time ? "$" : "", setting.name, setting.value.index(),
                        to_text(setting.value));
  return text;
}

/// The first of some points that is valid.
std::optional<Spec> some_spec(const Space& space) {
  const std::int64_t points = std::min<std::int64_t>(space.product_size().value_or(20), 20);
  for (std::int64_t i = 0; i < points; ++i) {
    const auto point = space.at(i);
    if (const auto* spec = std::get_if<Spec>(&point)) return *spec;
  }
  return std::nullopt;
}

/// The best YAML of what was loaded is a tuning file of that spec and source.
void check_best(const config::Loaded& loaded, const fs::path& folder) {
  const auto spec = some_spec(loaded.plan.space);
  if (!spec) return;
  config::BestResult result;
  result.winner = *spec;
  result.time.seconds = 1e-3;
  result.device = {"a \"device\"\n", "1: x", "#", {}};
  const std::string text = config::write_best(loaded.source, loaded.plan, result, folder / "out $x");
  const fs::path best = folder / "out $x/best.yaml";
  write(best, text);
  config::Loaded again;
  try {
    config::LoadRules options = load_options();
    options.limits = nullptr;
    again = config::load(std::vector{best}, options);
  } catch (const Error& error) {
    throw Finding(fmt::format("best.yaml does not read back: {}\n{}", error.what(), text));
  }
  const auto winner = some_spec(again.plan.space);
  if (!winner || settings_text(winner->params) != settings_text(spec->params))
    throw Finding(fmt::format("best.yaml has another spec than {}:\n{}", settings_text(spec->params), text));
  if (again.plan.file != loaded.plan.file)
    throw Finding(fmt::format("best.yaml is of {}, not {}", again.plan.file.string(), loaded.plan.file.string()));
}

bool same_texts(const config::Node& x, const config::Node& y) {
  return x.kind == y.kind && x.text == y.text && std::ranges::equal(x.items, y.items, same_texts) &&
         std::ranges::equal(x.entries, y.entries, [](const config::Entry& a, const config::Entry& b) {
           return same_texts(a.key, b.key) && same_texts(a.value, b.value);
         });
}

void check_yaml(const std::string& text) {
  config::Diagnostics diagnostics;
  const config::Node node = config::parse_yaml(text, "fuzz.yaml", diagnostics);
  if (diagnostics.any()) return;
  const std::string written = config::to_yaml(node);
  try {
    config::Diagnostics none;
    if (!same_texts(node, config::parse_yaml(written, "written.yaml", none)) || none.any())
      throw Finding("written YAML reads back as another:\n" + written);
  } catch (const Error& error) {
    throw Finding(fmt::format("written YAML does not read back: {}\n{}", error.what(), written));
  }
}

Reader tuning_reader(std::string name, std::vector<std::string> seeds, const fs::path& folder) {
  const fs::path file = folder / "fuzz.yaml";
  fs::create_directories(folder / "out $x");
  return {std::move(name), std::move(seeds), [folder, file](const std::string& text) {
            write(file, text);
            return refuses_only_properly(file.string(), [&] {
              try {
                check_yaml(text);
              } catch (const Error& error) {
                check_message(error.what());
              }
              const config::Loaded loaded = config::load(std::vector{file}, load_options());
              check_best(loaded, folder);
            });
          }};
}

void check_same_trials(const recording::Recording& recording, const std::string& written, const char* format) {
  try {
    const recording::Recording again = recording::parse_recordings(written, "written").back();
    if (again.trials.size() != recording.trials.size())
      throw Finding(fmt::format("as {} it has {} trials, not {}:\n{}", format, again.trials.size(),
                                recording.trials.size(), written));
  } catch (const Error& error) {
    throw Finding(fmt::format("as {} it does not read back: {}\n{}", format, error.what(), written));
  }
}

void check_recording(const std::string& text) {
  const recording::Recording recording = recording::parse_recordings(text, "fuzz.rec").back();
  const recording::RecordedTrials trials(recording);
  for (const recording::RecordedTrial& trial : recording.trials) trials.find(trial.settings);
  check_same_trials(recording, commands::to_journal(recording, {"tune", "convert"}), "a journal");
  check_same_trials(recording, recording::to_t4(recording, "2026-01-01"), "T4");
  check_same_trials(recording, recording::to_kernel_tuner(recording, "2026-01-01"), "a Kernel Tuner cache");
  const Space space = recording::space_of(recording);
  recording::points_of(recording, space);
  some_spec(space);
}

Reader recording_reader(std::string name, std::vector<std::string> seeds) {
  return {std::move(name), std::move(seeds),
          [](const std::string& text) { return refuses_only_properly("fuzz.rec", [&] { check_recording(text); }); }};
}

/// A run continues the cache of its own kind only, and what is there then is read by others.
Reader cache_reader(const fs::path& folder) {
  const fs::path file = folder / "cache.json";
  return {"kt-cache", {corpus("kernel_tuner.json")}, [file](const std::string& text) {
            write(file, text);
            return refuses_only_properly(file.string(), [&] {
              recording::Recording kind = recording::parse_recordings(corpus("kernel_tuner.json"), "corpus").back();
              const recording::RecordedTrial trial = kind.trials.front();
              kind.trials.clear();
              recording::KernelTunerCache cache(file, kind, {"GFLOP/s"});
              cache.add(trial, "2026-01-01");
            });
          }};
}

Reader journal_reader(const fs::path& folder) {
  const fs::path file = folder / "fuzz.jsonl";
  return {"journal",
          {journal_seed("gemm_mma_8192_h200.jsonl"), journal_seed("gemm_simt_energy_h200.jsonl"),
           journal_seed("gemm_simt_isolation_auto_h200.jsonl"), journal_seed("hotspot_h200.jsonl")},
          [file](const std::string& text) {
            write(file, text);
            return refuses_only_properly(file.string(), [&] {
              const std::int64_t damaged = recording::Journal(file).damaged().count();
              recording::Journal::last_run_of(file);
              if (recording::Journal(file).damaged().count() != damaged)
                throw Finding("a journal changes by being opened");
            });
          }};
}

Reader shapes_reader(const fs::path& folder) {
  const fs::path file = folder / "shapes.yaml";
  return {"shapes",
          {corpus("shapes.yaml"), text_of(fs::path(TUNE_SOURCE_DIR) / "configs/recorded/audit_shapes.yaml")},
          [file](const std::string& text) {
            write(file, text);
            return refuses_only_properly(file.string(), [&] {
              for (const config::Shape& shape : config::read_shapes(file).shapes)
                check_message(line_with_escapes(config::to_text(shape)));
            });
          }};
}

Reader device_reader(const fs::path& folder) {
  const fs::path file = folder / "device.yaml";
  return {"device", {corpus("device.yaml")}, [file](const std::string& text) {
            write(file, text);
            return refuses_only_properly(file.string(), [&] {
              const Device device = config::read_device(file);
              write(file, config::write_device(device));
              const Device again = config::read_device(file);
              if (again.name != device.name || again.driver != device.driver || again.arch != device.arch ||
                  again.properties != device.properties)
                throw Finding("a device reads back as another:\n" + config::write_device(device));
            });
          }};
}

/// Lines of workers and results of programs are refused by Malformed, whose words a user may see.
Reader worker_reader() {
  return {"worker", {corpus("worker.jsonl")}, [](const std::string& text) {
            bool accepted = false;
            const auto attempt = [&](auto read) {
              try {
                read();
                accepted = true;
              } catch (const wire::Malformed& malformed) {
                check_message(with_escapes(malformed.what()));
              }
            };
            std::istringstream lines(text);
            for (std::string line; std::getline(lines, line);) {
              attempt([&] { wire::decode_event(line); });
              attempt([&] { wire::decode_record(line); });
              attempt([&] { worker::read_program_result(line, ""); });
            }
            attempt([&] { worker::read_program_result(std::nullopt, text); });
            return accepted;
          }};
}

/// Texts that blank lines part.
std::vector<std::string> paragraphs(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", begin), text.size() - 1) + 1;
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// One argument per line.
Reader options_reader() {
  return {"options", paragraphs(corpus("arguments.txt")), [](const std::string& text) {
            std::vector<std::string> words = {"tune"};
            std::istringstream lines(text);
            for (std::string line; std::getline(lines, line);) {
              line = line.substr(0, line.find('\0'));
              // They print pages.
              const bool prints = line.starts_with("--h") || line.starts_with("-h") || line.starts_with("--vers");
              if (!prints) words.push_back(line);
            }
            std::vector<const char*> arguments;
            for (const std::string& word : words) arguments.push_back(word.c_str());
            return refuses_only_properly(
                "", [&] { commands::read_command_line(static_cast<int>(arguments.size()), arguments.data()); });
          }};
}

/// One filter, parameter or objective per line, for one tuning file.
Reader override_reader(const fs::path& folder) {
  const fs::path file = folder / "overridden.yaml";
  write(file, corpus("program.yaml").substr(0, corpus("program.yaml").find("baseline:")));
  return {"overrides",
          {"TILE:[8, 16]\nMODE:row\nNEW:[1, 2.5, a]\nSHAPE:[2, 1]\n", "TILE=8\nMODE=a b\nSHAPE=[2,1]\n"},
          [file](const std::string& text) {
            config::LoadRules options = load_options();
            std::istringstream lines(text);
            std::vector<std::string> filters;
            for (std::string line; std::getline(lines, line);)
              (line.find('=') == std::string::npos ? options.params : filters).push_back(line);
            return refuses_only_properly("", [&] {
              const config::Loaded loaded = config::load(std::vector{file}, options);
              const auto parsed = config::parse_filters(filters, loaded.plan.space);
              if (const auto spec = some_spec(loaded.plan.space)) config::matches(parsed, *spec);
            });
          }};
}

/// What another tuning file compares with.
Reader baseline_reader(const fs::path& folder) {
  const fs::path file = folder / "baseline/tuned.yaml", best = folder / "baseline/best.yaml";
  fs::create_directories(file.parent_path());
  write(file, corpus("program.yaml"));
  return {"baseline", {corpus("best.yaml")}, [file, best](const std::string& text) {
            write(best, text);
            return refuses_only_properly(best.parent_path().string(),
                                         [&] { config::load(std::vector{file}, load_options()); });
          }};
}

}  // namespace

void check_message(const std::string& message) {
  constexpr std::string_view kForeign[] = {"json.exception", "yaml-cpp", "std::",         "basic_string",
                                           "vector::",       "map::",    "bad_",          "_M_",
                                           "stoi",           "stoll",    "filesystem er", "Sanitizer",
                                           "runtime error:", "bad file", "filesystem:",   "terminate"};
  for (const std::string_view foreign : kForeign)
    if (message.find(foreign) != std::string::npos) throw Finding("a library's words are in a message: " + message);
  if (message.empty()) throw Finding("an error without a message");
}

std::vector<Reader> readers(const fs::path& folder) {
  std::vector<Reader> all;
  all.push_back(tuning_reader("yaml", tuning_files(), folder));
  all.push_back(tuning_reader("t1", {corpus("t1.json"), corpus("t1_vectors.json")}, folder));
  all.push_back(journal_reader(folder));
  all.push_back(recording_reader("recorded-journal",
                                 {journal_seed("gemm_mma_8192_h200.jsonl"), journal_seed("hotspot_h200.jsonl")}));
  all.push_back(recording_reader("kernel-tuner", {corpus("kernel_tuner.json")}));
  all.push_back(recording_reader("t4", {corpus("results.t4.json")}));
  all.push_back(recording_reader("csv", {corpus("results.csv")}));
  all.push_back(cache_reader(folder));
  all.push_back(shapes_reader(folder));
  all.push_back(device_reader(folder));
  all.push_back(baseline_reader(folder));
  all.push_back(override_reader(folder));
  all.push_back(options_reader());
  all.push_back(worker_reader());
  return all;
}

}  // namespace tune::fuzz
