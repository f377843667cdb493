#include "exec/workers.h"

#include "exec/device/devices.h"
#include "exec/process/runner.h"
#include "model/values/error.h"
#include "platform/process/process.h"

namespace tune::exec {
namespace fs = std::filesystem;
namespace {

using Environment = std::map<std::string, std::string>;

std::string name_of(Backend backend) { return "tune-worker-" + std::string(to_text(backend)); }

[[noreturn]] void fail(Backend backend, const std::string& why) {
  throw Error(ExitCode::environment, name_of(backend) + ": " + why);
}

void require_device(const wire::Hello& hello) {
  if (!hello.no_device.empty()) fail(hello.backend, hello.no_device + "; --build-only --arch NAME needs none");
}

// The first line a probe says, and how it ended.
std::pair<std::string, platform::Processes::Ended> answer_of(const fs::path& worker, const Environment& environment,
                                                             std::chrono::duration<double> limit) {
  platform::Processes processes(true);
  platform::Command command;
  command.argv = {worker.string(), "--probe"};
  command.environment = environment;
  const platform::Processes::Id id = processes.start(command);
  processes.close_stdin(id);
  processes.set_deadline(id, platform::ticks(limit.count()));
  std::string answer;
  for (;;) {
    const auto event = processes.wait(std::nullopt);
    if (const auto* line = std::get_if<platform::Processes::Line>(&*event); line && answer.empty()) answer = line->text;
    if (const auto* ended = std::get_if<platform::Processes::Ended>(&*event)) return {answer, *ended};
    heed(*event);
  }
}

}  // namespace

std::optional<fs::path> Workers::find(Backend backend) const {
  std::error_code ignored;
  for (const fs::path& folder : {folder_, folder_.parent_path() / "libexec" / "tune"})
    if (fs::exists(folder / name_of(backend), ignored)) return folder / name_of(backend);
  return std::nullopt;
}

fs::path Workers::require(Backend backend) const {
  if (const auto worker = find(backend)) return *worker;
  const std::string needs = traits_of(backend).needs;
  fail(backend, "not found in " + folder_.string() + " or ../libexec/tune; build or install it with tune" +
                    (needs.empty() ? "" : "; that needs " + needs));
}

const wire::Hello& Workers::probe(Backend backend) {
  const wire::Hello& hello = probe_compiler(backend);
  require_device(hello);
  return hello;
}

const wire::Hello& Workers::probe_compiler(Backend backend) {
  if (others_ != nullptr) return others_->probe(backend);
  if (const auto found = hellos_.find(backend); found != hellos_.end()) return found->second;
  return hellos_[backend] = ask(backend, {});
}

Device Workers::describe(Backend backend, const Environment& environment) const {
  wire::Hello hello = ask(backend, environment);
  require_device(hello);
  return std::move(hello.device);
}

wire::Hello Workers::ask(Backend backend, const Environment& environment) const {
  const auto [answer, ended] = answer_of(require(backend), environment, probe_limit_);
  if (!ended.exit.clean()) fail(backend, "the probe failed: " + platform::to_text(ended.exit) + "\n" + ended.captured);
  try {
    const wire::Event event = wire::decode_event(answer);
    if (const auto* failed = std::get_if<wire::Failed>(&event)) fail(backend, failed->message);
    const auto& hello = std::get<wire::Hello>(event);
    if (hello.protocol != wire::kProtocol)
      fail(backend, "it speaks protocol " + std::to_string(hello.protocol) + ", tune speaks " +
                        std::to_string(wire::kProtocol) + "; install both from one build");
    return hello;
  } catch (const wire::Malformed& error) {
    fail(backend, std::string("the probe's answer is no hello: ") + error.what());
  } catch (const std::bad_variant_access&) {
    fail(backend, "the probe's answer is no hello: " + answer);
  }
}

std::vector<std::string> Workers::models(Backend backend) {
  return others_ != nullptr ? others_->models(backend) : models_of(probe(backend));
}

void Workers::choose_model(Backend backend, const std::string& model) {
  if (others_ != nullptr) others_->choose_model(backend, model);
}

bool Workers::present(Backend backend) {
  if (others_ != nullptr) others_->start();  // what prevents that is told
  if (!is_gpu(backend) && others_ == nullptr) return find(backend).has_value();
  try {
    probe(backend);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace tune::exec
