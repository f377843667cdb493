#include "gpu/gpu_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backend.h"
#include "checking/compare_result.h"
#include "checking/generator.h"
#include "checking/reference.h"
#include "gpu/gpu_reference.h"
#include "gpu/gpu_vendor.h"

namespace tune::worker {
namespace {

constexpr const char* kWorkspace = "workspace";
constexpr std::size_t kRound = 512;
constexpr std::size_t kGap = 2 << 20;  // bytes of a page
constexpr std::size_t kMostGaps = 32;

std::uint16_t word(Poison pattern) { return static_cast<std::uint16_t>(pattern); }

std::size_t bytes_of(std::int64_t doubles) { return static_cast<std::size_t>(doubles) * sizeof(double); }

}  // namespace

GpuMemory::GpuMemory(const Gpu& gpu, const GpuHelpers& helpers, const wire::MeasureRequest& request, Verifier& verifier,
                     std::uint64_t seed)
    : gpu_(gpu),
      helpers_(helpers),
      verifier_(verifier),
      seed_of_inputs_(request.seed),
      zero_c_(request.kernel() != nullptr && request.kernel()->zero_c),
      random_(seed) {
  if (const auto* gemm = std::get_if<Gemm>(&verifier.problem()); gemm != nullptr && gemm->groups() > 0) {
    const auto offsets = std::as_bytes(std::span(gemm->group_offsets));
    offsets_ = DeviceMemory(gpu, offsets.size(), "the groups' offsets");
    offsets_.copy_from(offsets);
  }
  for (const Buffer& buffer : verifier.buffers())
    buffers_.push_back(guarded(buffer.name, buffer.count * size_of(buffer.type)));
  const auto cache = 2 * static_cast<std::size_t>(gpu.attribute(gpu::kL2Bytes));
  clean_ = DeviceMemory(gpu, std::max(cache, gpu::kLeastFlush), "flushing the caches");
  clean_.set_bytes(0, 0, clean_.bytes());
  if (verifier.has_reference()) {
    take_reference(request);
    prepare_variation();
  }
  describe_outputs();
  make_originals();
  kept_digest_ = digest_of_kept();
}

void GpuMemory::fill_with(Content content, std::size_t buffer, gpu::Address to) const {
  if (content.list != nullptr) content.list = offsets_.as<const int>();
  helpers_.fill(content, to, verifier_.buffers()[buffer].count);
}

void GpuMemory::make_originals() {
  for (std::size_t i = 0; i < verifier_.buffers().size(); ++i) {
    DeviceMemory& original = originals_.emplace_back();
    const auto content = verifier_.content(i);
    if (!content) continue;
    constexpr std::size_t kWord = 8;
    original =
        DeviceMemory(gpu_, (buffers_[i].bytes + kWord - 1) / kWord * kWord, "the original of " + buffers_[i].name);
    fill_with(*content, i, original.address());
  }
}

void GpuMemory::fill_otherwise() {
  for (std::size_t i = 0; i < originals_.size(); ++i)
    if (originals_[i].bytes() > 0) fill_with(verifier_.other_content(i), i, address(buffers_[i]));
}

std::uint64_t GpuMemory::digest_of_kept() const {
  std::vector<const DeviceMemory*> kept;
  if (verifier_.has_reference()) kept.push_back(&reference_);
  for (const DeviceMemory& original : originals_)
    if (original.bytes() > 0) kept.push_back(&original);
  return helpers_.digest(kept);
}

/// The memory of a buffer with its guard bands.
std::size_t GpuMemory::around(std::size_t size) {
  return kBand + kShift + (size + kRound - 1) / kRound * kRound + kBand;
}

GpuMemory::Guarded GpuMemory::guarded(const std::string& name, std::int64_t bytes) const {
  const auto size = static_cast<std::size_t>(bytes);
  return {name, size, DeviceMemory(gpu_, around(size), name)};
}

void GpuMemory::guard(Guarded& buffer) {
  const std::size_t end = (start() + buffer.bytes) / 2 * 2;  // an odd last byte is made anew before each launch
  buffer.memory.set_words(word(Poison::nan), 0, start());
  buffer.memory.set_words(word(Poison::nan), end, buffer.memory.bytes() - end);
}

void GpuMemory::set_workspace(std::int64_t bytes, bool zero) {
  zero_workspace_ = zero;
  const std::size_t count = verifier_.buffers().size(), size = static_cast<std::size_t>(bytes);
  if (buffers_.size() > count) {
    if (buffers_.back().bytes == size) return;
    spare_ = std::move(buffers_.back().memory);
    buffers_.pop_back();
  }
  if (size == 0) return;
  if (spare_.bytes() < around(size)) {
    spare_ = {};
    spare_ = DeviceMemory(gpu_, around(size), kWorkspace);
  }
  buffers_.push_back({kWorkspace, size, std::exchange(spare_, {})});
  guard(buffers_.back());
}

// What another process of the run keeps on the device is copied there.
void GpuMemory::take_reference(const wire::MeasureRequest& request) {
  auto shared = SharedReference::copy(request.reference, gpu_);
  if (shared)
    reference_ = std::move(shared->memory);
  else
    take_own_reference(request);
  reference_.copy_to(std::as_writable_bytes(std::span(&largest_addend_, 1)), reference_.bytes() - sizeof(double));
  if (shared && shared->digest != helpers_.digest({&reference_}))
    throw SpecFailure(Stage::load, "the reference on the device was damaged: its digest is wrong");
}

/// From the file; a large one that was to be copied from another process has none, and is made again.
void GpuMemory::take_own_reference(const wire::MeasureRequest& request) {
  const auto* gemm = std::get_if<Gemm>(&request.problem);
  if (gemm != nullptr && !verifier_.has_reference_file() && SharedReference::is_offered(request.reference)) {
    const std::string multiply = compile_gpu_multiply(gpu_.handle().arch());
    reference_ = compute_reference_on(gpu_, helpers_, multiply, *gemm, request.seed);
    return;
  }
  const auto values = std::as_bytes(verifier_.reference());
  reference_ = DeviceMemory(gpu_, values.size(), "the reference");
  reference_.copy_from(values);
}

void GpuMemory::describe_outputs() {
  for (std::size_t i = 0; i < verifier_.buffers().size(); ++i) {
    if (verifier_.buffers()[i].role != Buffer::Role::in) outputs_.push_back({i, comparison(i)});
  }
}

/// The comparison follows the same rules as compare_gemm and compare_custom.
GpuHelpers::Comparison GpuMemory::comparison(std::size_t index) const {
  const Buffer& buffer = verifier_.buffers()[index];
  GpuHelpers::Comparison result;
  result.type = buffer.type;
  const auto* gemm = std::get_if<Gemm>(&verifier_.problem());
  result.view = gemm ? view_c(*gemm) : whole(buffer.count).view;
  if (!verifier_.has_reference()) return result;
  result.reference = reference_.address();
  if (gemm) {
    result.tolerance = tolerance_of(*gemm, largest_addend_);
    result.finish = {static_cast<gpu::Epilogue>(gemm->epilogue), gemm->residual, source_of(gemm->init),
                     generator::key(seed_of_inputs_, number_of_residual(*gemm))};
    result.row_norms = result.reference + bytes_of(gemm->batch * gemm->rows() * gemm->columns());
    result.col_norms = result.row_norms + bytes_of(gemm->batch * gemm->rows());
    result.change = change_of(*gemm, {});
    result.change.groups.offsets = offsets_.as<const int>();
    if (varies_) result.change.by_row = by_row_.as<const double>();
    if (varies_) result.change.by_col = by_col_.as<const double>();
    return result;
  }
  const std::span<const double> values = verifier_.reference_of(index);
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  result.tolerance.addends = custom_tolerance(std::get<Custom>(verifier_.problem()), buffer.type) * largest;
  result.reference += bytes_of(values.data() - verifier_.reference().data());
  return result;
}

gpu::Address GpuMemory::address(const std::string& name) const {
  for (const Guarded& buffer : buffers_)
    if (buffer.name == name) return address(buffer);
  throw SpecFailure(Stage::load, fmt::format("launch.args: there is no buffer {}", name));
}

// Gaps of random sizes keep a driver from giving the same memory again.
void GpuMemory::move() {
  std::vector<DeviceMemory> gaps;
  const auto take = [&](Guarded& buffer) { buffer = guarded(buffer.name, static_cast<std::int64_t>(buffer.bytes)); };
  spare_ = {};
  for (Guarded& buffer : buffers_) buffer.memory = {};
  for (Guarded& buffer : buffers_) {
    try {
      gaps.emplace_back(gpu_, (1 + random_() % kMostGaps) * kGap, "a gap between buffers");
      take(buffer);
    } catch (const GpuError&) {  // there is no room for gaps
      gaps.clear();
      take(buffer);
    }
  }
}

void GpuMemory::lay(Place place) {
  place_ = place;
  turned_ = kNone;
  if (varies_)
    rotation_ = draw_rotation(std::get<Gemm>(verifier_.problem()), [this](std::int64_t n) { return below(n); });
  for (Guarded& buffer : buffers_) guard(buffer);
  for (const std::size_t i : inputs()) restore(i);
}

/// What kernels read of a buffer, and what lies between its rows.
void GpuMemory::restore(std::size_t i, bool late) {
  const Buffer& buffer = verifier_.buffers()[i];
  if (has_padding(i))
    helpers_.copy_rotated(buffer.type, originals_[i].address(), address(buffers_[i]), whole(buffer.count));
  fill(i, late);
}

std::vector<std::size_t> GpuMemory::inputs() const {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < originals_.size(); ++i)
    if (originals_[i].bytes() > 0) numbers.push_back(i);
  return numbers;
}

bool GpuMemory::wander() {
  if (random_() % 4 != 0) return false;
  verify_guards();
  lay(place_ == Place::first ? Place::second : Place::first);
  return true;
}

void GpuMemory::prepare_variation() {
  if (!can_be_rotated(verifier_.problem())) return;
  varies_ = true;
  const Gemm& gemm = std::get<Gemm>(verifier_.problem());
  by_row_ = DeviceMemory(gpu_, gpu::kTurns * bytes_of(gemm.batch * gemm.rows()), "the inputs' changes");
  by_col_ = DeviceMemory(gpu_, gpu::kTurns * bytes_of(gemm.matrices_of_b() * gemm.columns()), "the inputs' changes");
}

std::int64_t GpuMemory::below(std::int64_t count) {
  return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(count));
}

/// The matrices of a buffer as they are rotated now; all of it, if they cannot be.
RotatedView GpuMemory::matrices(std::size_t buffer) const {
  if (const auto* gemm = std::get_if<Gemm>(&verifier_.problem()); gemm && can_be_rotated(*gemm)) {
    RotatedView view = rotated_view(*gemm, buffer, rotation_);
    view.groups.offsets = offsets_.as<const int>();
    return view;
  }
  return whole(verifier_.buffers()[buffer].count);
}

bool GpuMemory::has_padding(std::size_t buffer) const {
  const MatrixView view = matrices(buffer).view;
  return view.batch * view.rows * view.cols != verifier_.buffers()[buffer].count;
}

void GpuMemory::fill(std::size_t buffer, bool late) {
  helpers_.copy_rotated(verifier_.buffers()[buffer].type, originals_[buffer].address(), address(buffers_[buffer]),
                        matrices(buffer), late);
}

void GpuMemory::turn_signs(const gpu::Turns& to) {
  const Gemm& gemm = std::get<Gemm>(verifier_.problem());
  const auto scales = [&](Scale scale, std::size_t buffer) {
    return scale != Scale::none ? address(buffers_[buffer]) : gpu::Address{};
  };
  const gpu::Address scale_a = scales(gemm.scale_a, number_of_scale_a(gemm)),
                     scale_b = scales(gemm.scale_b, number_of_scale_b(gemm));
  helpers_.turn_signs({gemm.a, address(buffers_[kNumberOfA]), view_a(gemm), scale_a, scales_of_a(gemm)},
                      {gemm.b, address(buffers_[kNumberOfB]), view_b(gemm), scale_b, scales_of_b(gemm)}, turned_, to,
                      gemm.alpha, by_row_.address(), by_col_.address());
  turned_ = to;
}

void GpuMemory::vary() {
  if (!varies_) return;
  gpu::Turns turns = kNone;
  for (long long& k : turns.k) {
    const std::int64_t drawn = below(std::get<Gemm>(verifier_.problem()).k + 1) - 1;  // -1: none
    if (std::ranges::find(turns.k, drawn) == std::end(turns.k)) k = drawn;
  }
  turn_signs(turns);
}

void GpuMemory::prepare(Poison pattern) {
  vary();
  reset(pattern);
}

void GpuMemory::prepare_late(std::size_t input, Poison pattern) {
  if (varies_) turn_signs(kNone);
  reset(pattern);
  buffers_[input].memory.set_bytes(0, start(), buffers_[input].bytes);
  restore(input, true);
}

void GpuMemory::reset(Poison pattern) {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const bool keeps = i < verifier_.buffers().size() && verifier_.buffers()[i].role != Buffer::Role::out;
    if (!keeps) buffers_[i].memory.set_words(word(pattern), start(), buffers_[i].bytes);
  }
  for (std::size_t i = 0; i < verifier_.buffers().size(); ++i)
    if (verifier_.buffers()[i].role == Buffer::Role::inout) fill(i);
}

void GpuMemory::zero() {
  for (Guarded& buffer : buffers_)
    if ((zero_c_ && buffer.name == "C") || (zero_workspace_ && buffer.name == kWorkspace))
      buffer.memory.set_bytes(0, start(), buffer.bytes);
}

void GpuMemory::flush() {
  gpu_.check(gpu::forget_kept_lines(gpu_.driver()));
  helpers_.flush(clean_.address(), clean_.bytes());
}

void GpuMemory::find_guard_difference() const {
  for (const Guarded& buffer : buffers_)
    helpers_.find_guard_difference(buffer.memory.address(), buffer.memory.bytes(), start(), buffer.bytes);
}

void GpuMemory::verify_guards() const {
  if (!helpers_.smallest([this] { find_guard_difference(); })) return;
  for (const Guarded& buffer : buffers_) {
    std::vector<std::byte> before(start()), behind(buffer.memory.bytes() - start() - buffer.bytes);
    buffer.memory.copy_to(before);
    buffer.memory.copy_to(behind, start() + buffer.bytes);
    if (const auto hit = intrusion(buffer.name, before, behind, buffer.bytes, Poison::nan))
      throw SpecFailure(Stage::check, *hit);
  }
}

void GpuMemory::find_difference(std::size_t input) const {
  const Buffer& buffer = verifier_.buffers()[input];
  const gpu::Address original = originals_[input].address(), data = address(buffers_[input]);
  helpers_.find_difference(buffer.type, original, data, matrices(input));
  if (has_padding(input))
    helpers_.find_padding_difference(buffer.type, original, Poison::nan, data, matrices(input).view, {}, buffer.count);
}

// The device is asked once, and only if something is wrong more often, for what it is.
void GpuMemory::verify_surroundings() {
  if (varies_) turn_signs(kNone);
  std::vector<std::size_t> inputs;
  for (std::size_t i = 0; i < verifier_.buffers().size(); ++i)
    if (verifier_.buffers()[i].role == Buffer::Role::in) inputs.push_back(i);
  const auto damage = helpers_.smallest([&] {
    find_guard_difference();
    for (const std::size_t input : inputs) find_difference(input);
  });
  if (damage) verify_guards();
  for (const std::size_t input : inputs)
    if (const auto at = damage ? helpers_.smallest([&] { find_difference(input); }) : std::nullopt)
      throw SpecFailure(Stage::check, overwritten_text(verifier_.buffers()[input].name, *at));
  if (digest_of_kept() != kept_digest_)
    throw SpecFailure(Stage::check,
                      "the kernel wrote into the reference that its result is compared with, or into what its inputs "
                      "are copied from");
}

double GpuMemory::verify_outputs(Poison pattern) {
  double largest = 0;
  for (Output& output : outputs_) {
    output.comparison.data = address(buffers_[output.buffer]);
    output.comparison.change.rows = rotation_.rows;
    output.comparison.change.cols = rotation_.cols;
    const Buffer& buffer = verifier_.buffers()[output.buffer];
    GpuHelpers::Verdict verdict;
    if (verifier_.has_reference()) verdict = helpers_.compare(output.comparison);
    const auto* gemm = std::get_if<Gemm>(&verifier_.problem());
    gpu::Groups kept = gemm != nullptr ? groups_of_kept_padding(*gemm) : gpu::Groups{};
    kept.offsets = offsets_.as<const int>();
    const bool damaged = (has_padding(output.buffer) || kept.count > 0) && helpers_.smallest([&] {
      helpers_.find_padding_difference(buffer.type, originals_[output.buffer].address(), pattern,
                                       output.comparison.data, output.comparison.view, kept, buffer.count);
    });
    largest = std::max(largest,
                       verdict.wrong > 0 || damaged ? verify_on_host(output.buffer, pattern) : verdict.largest_ratio);
  }
  return largest;
}

double GpuMemory::verify_on_host(std::size_t index, Poison pattern) const {
  if (verifier_.has_reference() && !verifier_.has_reference_file()) verifier_.provide(reference_on_host(reference_));
  std::vector<std::byte> copy(buffers_[index].bytes);
  buffers_[index].memory.copy_to(copy, start());
  return verifier_.verify(index, copy.data(), pattern, {rotation_, signs_on_host()});
}

TurnedSigns GpuMemory::signs_on_host() const {
  TurnedSigns signs;
  if (!varies_) return signs;
  signs.by_row.resize(by_row_.bytes() / sizeof(double));
  signs.by_col.resize(by_col_.bytes() / sizeof(double));
  by_row_.copy_to(std::as_writable_bytes(std::span(signs.by_row)));
  by_col_.copy_to(std::as_writable_bytes(std::span(signs.by_col)));
  return signs;
}

}  // namespace tune::worker
