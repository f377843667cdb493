#include "exec/workshop.h"

#include <utility>

#include "model/error.h"

namespace tune {
namespace fs = std::filesystem;
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

Workshop::Workshop(const Requests& requests, WorkshopOptions options)
    : requests_(&requests),
      options_(std::move(options)),
      processes_(true),
      builder_(processes_, options_.worker, options_.store, options_.deadlines, options_.jobs) {}

Workshop::~Workshop() = default;

void Workshop::want_build(const Spec& spec) {
  if (!requests_->has_build()) return;
  const std::string key = requests_->build_key(spec);
  if (builder_.find(key) != nullptr) return;
  if (requests_->hello().compiler.empty())
    throw Error(ExitCode::environment, "no compiler for the " + std::string(to_text(requests_->hello().backend)) +
                                           " backend was found; install one (CPU: apt-get install g++, or set CXX)");
  builder_.want(key, requests_->build(spec));
}

void Workshop::finish_builds() {
  builder_.start_queued();
  while (builder_.running() > 0) {
    const auto event = processes_.wait(std::nullopt);
    if (const auto* interrupted = std::get_if<Processes::Interrupted>(&*event)) throw Interrupted{interrupted->signal};
    handle(*event);
    builder_.start_queued();
  }
}

const Builder::Result* Workshop::find_build(const Spec& spec) {
  static const Builder::Result kNotBuilt = Artifact{};
  return requests_->has_build() ? builder_.find(requests_->build_key(spec)) : &kNotBuilt;
}

void Workshop::throw_device_lost() const {
  throw Error(ExitCode::environment, "device " + requests_->hello().device.name +
                                         " no longer answers: a worker on it could not be killed; the results so far "
                                         "are in the journal");
}

std::uint64_t Workshop::reference_bytes() const {
  // Results in double precision and a margin for norms and headers.
  constexpr std::uint64_t kMargin = 64 << 20;
  std::int64_t elements = 0;
  if (const auto* gemm = std::get_if<Gemm>(&requests_->plan().problem)) elements = gemm->m * gemm->n * gemm->batch;
  if (const auto* custom = std::get_if<Custom>(&requests_->plan().problem))
    for (const Buffer& buffer : custom->buffers) elements += buffer.count;
  return static_cast<std::uint64_t>(elements) * sizeof(double) + kMargin;
}

bool Workshop::reference_ready(const Spec& spec) {
  if (!reference_.empty() || std::holds_alternative<std::monostate>(requests_->plan().problem)) return true;
  if (!reference_failure_.empty())
    throw Unlaunchable(reference_name() + ", built like this spec, failed: " + std::exchange(reference_failure_, {}));
  if (reference_process_ == nullptr) make_reference(spec);
  return false;
}

std::string Workshop::reference_name() const {
  const auto& kernel = requests_->plan().reference.kernel;
  return kernel ? "reference kernel '" + kernel->kernel + "'" : "reference.spec";
}

void Workshop::make_reference(const Spec& spec) {
  wire::ReferenceRequest request = requests_->reference(spec);
  if (std::holds_alternative<Custom>(requests_->plan().problem)) {
    const std::string key = requests_->reference_build_key(spec);
    const Builder::Result* result = builder_.find(key);
    if (result == nullptr) {
      builder_.want(key, requests_->reference_build(spec));
      return builder_.start_queued();
    }
    if (const auto* failure = std::get_if<Failure>(result))
      throw Error(ExitCode::bad_input, reference_name() + " cannot be built: " + first_line(failure->message));
    request.artifact = std::get<Artifact>(*result).path.string();
  }
  if (scratch_ == nullptr) scratch_ = std::make_unique<Scratch>(reference_bytes());
  request.output = (scratch_->folder() / "reference").string();
  reference_process_ = std::make_unique<WorkerProcess>(processes_, options_.worker, request, options_.deadlines);
}

WorkerProcess Workshop::start_measuring(wire::MeasureRequest request, const std::string& artifact) {
  request.artifact = artifact;
  request.reference = reference_;
  return WorkerProcess(processes_, options_.worker, request, options_.deadlines);
}

bool Workshop::handle(const Processes::Event& event) {
  if (builder_.handle(event)) return true;
  const auto* line = std::get_if<Processes::Line>(&event);
  const auto* ended = std::get_if<Processes::Ended>(&event);
  if (reference_process_ == nullptr || reference_process_->id() != (line ? line->id : ended ? ended->id : 0))
    return false;
  if (line) reference_process_->handle(*line);
  if (!ended) return true;
  reference_process_->handle(*ended);
  if (const auto& failure = reference_process_->failure()) {
    // A reference kernel is built with the parameters of the spec that needs it first; another spec's may do.
    if (!requests_->plan().reference.kernel)
      throw Error(ExitCode::environment, "cannot make the reference result: " + failure->message);
    reference_failure_ = first_line(failure->message);
    reference_process_.reset();
    return true;
  }
  reference_ = (scratch_->folder() / "reference").string();
  reference_process_.reset();
  return true;
}

}  // namespace tune
