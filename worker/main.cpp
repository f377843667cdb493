#include <fmt/format.h>

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "backend.h"
#include "channel.h"
#include "cpu/sandbox/kernel_runner.h"
#include "model/values/error.h"
#include "platform/process/descendants.h"

namespace tune::worker {
namespace {

constexpr const char* kHelp =
    R"(Builds, checks and times one kernel for `tune`. A driver starts it; by hand:

  {0} build     --once < build.json      compile; answers `built` or `failed`
  {0} measure   --once < measure.json    load, check and time; answers `measured` or `failed`
  {0} reference --once < reference.json  compute what a right result is
  {0} hold                               keep the device open, so that other processes open it sooner
  {0} --probe                            describe device and compiler, and end

The request is one JSON object on one line of stdin, the answers are JSON objects, one per line.
  --once   act as if the commands load, go and done had been sent, and ignore the end of stdin;
           without it the end of stdin means that the driver died, and ends the process group
  --help   this text
)";

struct Options {
  std::string mode;  ///< build, measure, reference, hold, probe or help
  bool once = false;
};

/// nullopt: not understood.
std::optional<Options> parse(const std::vector<std::string_view>& words) {
  Options options;
  for (const std::string_view word : words) {
    const bool is_mode = word == "build" || word == "measure" || word == "reference" || word == "hold";
    if (word == "--once")
      options.once = true;
    else if (is_mode && options.mode.empty())
      options.mode = word;
    else if ((word == "--probe" || word == "--help") && options.mode.empty())
      options.mode = word.substr(2);
    else
      return std::nullopt;
  }
  if (options.mode.empty()) return std::nullopt;
  return options;
}

/// One process's work: what it is asked for, and how far it got, which is the stage it fails in.
class Session {
 public:
  Session(const Options& options, WorkerBackend& backend, Channel& channel)
      : options_(options), backend_(backend), channel_(channel) {}

  /// Everything but the last event, which is returned; nullopt: `done` came.
  std::optional<wire::Event> run() try {
    if (options_.mode == "probe") return backend_.probe();
    if (options_.mode == "hold") return hold();
    const wire::Request request = read_request();
    if (const auto* build = std::get_if<wire::BuildRequest>(&request)) return backend_.build(*build);
    if (const auto* measure = std::get_if<wire::MeasureRequest>(&request)) return serve(*measure);
    return refer(request);
  } catch (const SpecFailure& refusal) {
    return refusal.failed();
  } catch (const wire::Malformed& malformed) {
    return wire::Failed{Stage::start, fmt::format("malformed message from the driver: {}", malformed.what())};
  } catch (const OutOfMemory& lack) {
    return failed(lack.what(), {.machine_suspected = lack.machine_suspected()});
  } catch (const std::bad_alloc&) {
    return failed("out of memory", {.machine_suspected = true});
  } catch (const Error& error) {
    return failed(error.what(), {}, error.code() == ExitCode::environment);
  } catch (const std::system_error& error) {
    return failed(error.what(), {}, error.code() == std::errc::no_space_on_device);
  } catch (const std::exception& exception) {
    return failed(exception.what(), {});
  }

 private:
  wire::Failed failed(const char* message, const FailureFacts& facts, bool environment = false) const {
    return {.stage = stage_, .message = message, .facts = facts, .environment = environment};
  }

  wire::Request read_request() {
    const auto line = channel_.next();
    if (!line) throw SpecFailure(Stage::start, "no request on stdin");
    return request_of(*line);
  }

  wire::Request request_of(const std::string& line) {
    wire::Request request = wire::decode_request(line);
    static constexpr const char* kModes[] = {"build", "measure", "reference"};
    if (const char* asked = kModes[request.index()]; options_.mode != asked)
      throw wire::Malformed(fmt::format("a {} request for a {} process", asked, options_.mode));
    if (request.index() == 0) stage_ = Stage::build;
    return request;
  }

  std::optional<wire::Event> hold() {
    backend_.hold();
    while (channel_.next()) {  // the end of stdin ends it
    }
    return std::nullopt;
  }

  // While others copy the reference from the device, this waits for the next request, or the end of stdin.
  std::optional<wire::Event> refer(wire::Request request) {
    for (;;) {
      stage_ = Stage::start;
      backend_.reference(std::get<wire::ReferenceRequest>(request));
      if (!backend_.keeps_reference()) return wire::Referenced{};
      channel_.say(wire::Referenced{});
      const auto line = channel_.next();
      if (!line) return std::nullopt;
      request = request_of(*line);
    }
  }

  std::optional<wire::Event> serve(wire::MeasureRequest request) {
    wire::Hello hello;
    hello.backend = backend_.kind();
    channel_.say(hello);
    if (options_.once) {
      load(request, false);
      return go({});
    }
    for (bool loaded = false, beside = false;;) {
      wire::Command command = wire::decode_command(channel_.next().value());
      if (std::holds_alternative<wire::Done>(command)) return std::nullopt;
      if (const auto* command_go = std::get_if<wire::Go>(&command)) {
        if (!loaded) throw wire::Malformed("`go` before `load`");
        if (auto measured = go(*command_go)) channel_.say(*std::move(measured));
      } else if (auto* next = std::get_if<wire::Next>(&command)) {
        request = std::move(next->request);
        beside = next->beside;
        loaded = paused_ = false;
        stage_ = Stage::start;
      } else {
        load(request, beside);
        loaded = true;
      }
    }
  }

  void load(const wire::MeasureRequest& request, bool beside) {
    stage_ = Stage::load;
    backend_.load(request, beside);
    channel_.say(wire::Loaded{});
  }

  std::optional<wire::Event> go(const wire::Go& command) {
    if (!std::exchange(paused_, false)) stage_ = command.checks() ? Stage::check : Stage::measure;
    auto measured = backend_.measure(command, [this](const wire::Event& event) {
      channel_.say(event);
      stage_ = Stage::measure;
    });
    paused_ = !measured;
    return measured;
  }

  const Options& options_;
  WorkerBackend& backend_;
  Channel& channel_;
  Stage stage_ = Stage::start;
  bool paused_ = false;  ///< after its check
};

Channel::Input input_of(const Options& options) {
  if (options.mode == "probe") return Channel::Input::none;
  return options.once ? Channel::Input::by_hand : Channel::Input::driver;
}

}  // namespace
}  // namespace tune::worker

int main(int argc, char** argv) {
  if (argc == 2 && argv[1] == std::string_view(tune::worker::kRunKernel))
    return tune::worker::make_backend()->run_kernel();
  const std::string_view program = argc > 0 ? argv[0] : "tune-worker";
  const auto options = tune::worker::parse({argv + 1, argv + argc});
  if (!options || options->mode == "help") {
    fmt::print(options ? stdout : stderr, fmt::runtime(tune::worker::kHelp), program.substr(program.rfind('/') + 1));
    return options ? 0 : 2;
  }
  tune::platform::adopt_orphans();
  tune::worker::Channel channel(tune::worker::input_of(*options));
  const auto backend = tune::worker::make_backend();
  channel.leave(tune::worker::Session(*options, *backend, channel).run());
}
