#include "gpu_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "backend.h"
#include "compare_result.h"
#include "gpu_vendor.h"
#include "reference.h"

namespace tune::worker {
namespace {

constexpr const char* kWorkspace = "workspace";
constexpr std::size_t kRound = 512;
constexpr std::size_t kGap = 2 << 20;  // bytes of a page
constexpr std::size_t kMostGaps = 32;

std::uint16_t word(Poison pattern) { return static_cast<std::uint16_t>(pattern); }

std::size_t bytes_of(std::int64_t doubles) { return static_cast<std::size_t>(doubles) * sizeof(double); }

MatrixView view_of(const Problem& problem, const Buffer& buffer) {
  if (const auto* gemm = std::get_if<Gemm>(&problem)) return view_c(*gemm);
  return {1, 1, buffer.count, 0, 0, 1};
}

bool overlap(const MatrixView& view) {
  MatrixView one = view;
  one.batch = 1;
  return view.batch > 1 && view.batch_stride < one.extent();
}

/// Matrices that overlap have none: what lies between the rows of one belongs to another.
bool has_padding(const MatrixView& view, std::int64_t count) {
  return !overlap(view) && view.batch * view.rows * view.cols != count;
}

/// A's matrices as often as they are there.
MatrixView stored(MatrixView view) {
  if (view.batch_stride == 0) view.batch = 1;
  return view;
}

}  // namespace

GpuMemory::GpuMemory(const Gpu& gpu, const GpuHelpers& helpers, const wire::MeasureRequest& request,
                     const Verifier& verifier, std::uint64_t seed)
    : gpu_(gpu), helpers_(helpers), verifier_(verifier), zero_c_(request.zero_c), random_(seed) {
  for (const Buffer& buffer : verifier.buffers())
    buffers_.push_back(guarded(buffer.name, buffer.count * size_of(buffer.type)));
  const auto cache = 2 * static_cast<std::size_t>(gpu.attribute(gpu::kL2Bytes));
  clean_ = DeviceMemory(gpu, std::max(cache, gpu::kLeastFlush), "flushing the caches");
  clean_.set_bytes(0, 0, clean_.bytes());
  if (verifier.has_reference()) {
    take_reference(request);
    prepare_change();
  }
  describe_outputs();
}

GpuMemory::Guarded GpuMemory::guarded(const std::string& name, std::int64_t bytes) const {
  const auto size = static_cast<std::size_t>(bytes), rounded = (size + kRound - 1) / kRound * kRound;
  return {name, size, DeviceMemory(gpu_, kBand + kShift + rounded + kBand, name)};
}

void GpuMemory::set_workspace(std::int64_t bytes, bool zero) {
  zero_workspace_ = zero;
  const std::size_t count = verifier_.buffers().size();
  const std::size_t present = buffers_.size() > count ? buffers_.back().bytes : 0;
  if (present == static_cast<std::size_t>(bytes)) return;
  buffers_.resize(count);
  if (bytes > 0) buffers_.push_back(guarded(kWorkspace, bytes));
}

// What another process of the run keeps on the device is copied there; otherwise it comes from the file.
void GpuMemory::take_reference(const wire::MeasureRequest& request) {
  if (auto shared = SharedReference::copy(request.reference, gpu_)) {
    reference_ = std::move(shared->memory);
    largest_addend_ = shared->largest_addend;
    reference_digest_ = helpers_.digest(reference_.address(), reference_.bytes());
    if (reference_digest_ == shared->digest) return;
    throw SpecFailure(Stage::load, "the reference on the device was damaged: its digest is wrong");
  }
  const auto values = std::as_bytes(verifier_.reference());
  reference_ = DeviceMemory(gpu_, values.size(), "the reference");
  reference_.copy_from(values);
  largest_addend_ = verifier_.reference().back();
  reference_digest_ = helpers_.digest(reference_.address(), reference_.bytes());
}

void GpuMemory::describe_outputs() {
  for (std::size_t i = 0; i < verifier_.buffers().size(); ++i) {
    const Buffer& buffer = verifier_.buffers()[i];
    if (buffer.role == Buffer::Role::in) continue;
    outputs_.push_back({i, comparison(i), has_padding(view_of(verifier_.problem(), buffer), buffer.count)});
  }
}

/// The comparison follows the same rules as compare_gemm and compare_custom.
GpuHelpers::Comparison GpuMemory::comparison(std::size_t index) const {
  const Buffer& buffer = verifier_.buffers()[index];
  GpuHelpers::Comparison result;
  result.type = buffer.type;
  result.view = view_of(verifier_.problem(), buffer);
  if (!verifier_.has_reference()) return result;
  result.reference = reference_.address();
  if (const auto* gemm = std::get_if<Gemm>(&verifier_.problem())) {
    const GemmTolerance tolerance(*gemm, largest_addend_);
    result.tolerance = {tolerance.of_norms(), tolerance.of_reference(), tolerance.constant()};
    result.row_norms = result.reference + bytes_of(gemm->batch * gemm->m * gemm->n);
    result.col_norms = result.row_norms + bytes_of(gemm->batch * gemm->m);
    if (changes_) result.change = {rows_.as<const double>(), cols_.as<const double>(), stored(view_a(*gemm)).batch};
    return result;
  }
  const std::span<const double> values = verifier_.reference_of(index);
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  result.tolerance = {0, 0, custom_tolerance(std::get<Custom>(verifier_.problem()), buffer.type) * largest};
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
  turned_ = {-1, -1};
  for (Guarded& buffer : buffers_) buffer.memory.set_words(word(Poison::nan), 0, buffer.memory.bytes());
  for (std::size_t i = 0; i < verifier_.buffers().size(); ++i)
    if (const auto content = verifier_.content(i))
      helpers_.fill(*content, address(buffers_[i]), verifier_.buffers()[i].count);
}

// Where matrices of A overlap in part, an element belongs to several rows, and nothing is changed.
void GpuMemory::prepare_change() {
  const auto* gemm = std::get_if<Gemm>(&verifier_.problem());
  if (gemm == nullptr || overlap(stored(view_a(*gemm)))) return;
  changes_ = true;
  rows_ = DeviceMemory(gpu_, 2 * bytes_of(gemm->batch * gemm->m), "the inputs' changes");
  cols_ = DeviceMemory(gpu_, 2 * bytes_of(gemm->batch * gemm->n), "the inputs' changes");
}

gpu::Pair GpuMemory::draw_pair() {
  const std::int64_t k = std::get<Gemm>(verifier_.problem()).k;
  const auto below = [&](std::int64_t count) {
    return static_cast<long long>(random_() % static_cast<std::uint64_t>(count));
  };
  const long long first = below(k + 1) - 1;  // -1: none
  const long long second = below(k + 1) - 1;
  return {first, second == first ? -1 : second};
}

void GpuMemory::change_inputs(gpu::Pair to) {
  const Gemm& gemm = std::get<Gemm>(verifier_.problem());
  helpers_.change_inputs({gemm.a, address(buffers_[0]), stored(view_a(gemm))},
                         {gemm.b, address(buffers_[1]), view_b(gemm)}, turned_, to, gemm.alpha, rows_.address(),
                         cols_.address());
  turned_ = to;
}

void GpuMemory::vary() {
  if (changes_) change_inputs(draw_pair());
}

void GpuMemory::prepare(Poison pattern) {
  vary();
  reset(pattern);
}

void GpuMemory::reset(Poison pattern) {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const bool keeps = i < verifier_.buffers().size() && verifier_.buffers()[i].role != Buffer::Role::out;
    if (!keeps) buffers_[i].memory.set_words(word(pattern), start(), buffers_[i].bytes);
  }
  for (std::size_t i = 0; i < verifier_.buffers().size(); ++i)
    if (const Buffer& buffer = verifier_.buffers()[i]; buffer.role == Buffer::Role::inout)
      helpers_.fill(*verifier_.content(i), address(buffers_[i]), buffer.count);
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

void GpuMemory::verify_surroundings() {
  for (const Guarded& buffer : buffers_) {
    if (!helpers_.guards_differ(buffer.memory.address(), buffer.memory.bytes(), start(), buffer.bytes)) continue;
    std::vector<std::byte> before(start()), behind(buffer.memory.bytes() - start() - buffer.bytes);
    buffer.memory.copy_to(before);
    buffer.memory.copy_to(behind, start() + buffer.bytes);
    if (const auto hit = intrusion(buffer.name, before, behind, buffer.bytes, Poison::nan))
      throw SpecFailure(Stage::check, *hit);
  }
  if (changes_) change_inputs({-1, -1});
  for (std::size_t i = 0; i < verifier_.buffers().size(); ++i) {
    const Buffer& buffer = verifier_.buffers()[i];
    if (buffer.role != Buffer::Role::in) continue;
    if (const auto at = helpers_.first_difference(*verifier_.content(i), address(buffers_[i]), buffer.count))
      throw SpecFailure(Stage::check, overwritten_text(buffer.name, *at));
  }
  if (verifier_.has_reference() && helpers_.digest(reference_.address(), reference_.bytes()) != reference_digest_)
    throw SpecFailure(Stage::check, "the kernel wrote into the reference that its result is compared with");
}

double GpuMemory::verify_outputs(Poison pattern) {
  double largest = 0;
  for (Output& output : outputs_) {
    output.comparison.data = address(buffers_[output.buffer]);
    const Buffer& buffer = verifier_.buffers()[output.buffer];
    GpuHelpers::Verdict verdict;
    if (verifier_.has_reference()) verdict = helpers_.compare(output.comparison);
    const bool damaged =
        output.has_padding && helpers_.padding_differs(buffer.type, verifier_.content(output.buffer), pattern,
                                                       output.comparison.data, output.comparison.view, buffer.count);
    largest = std::max(largest,
                       verdict.wrong > 0 || damaged ? verify_on_host(output.buffer, pattern) : verdict.largest_ratio);
  }
  return largest;
}

double GpuMemory::verify_on_host(std::size_t index, Poison pattern) const {
  std::vector<std::byte> copy(buffers_[index].bytes);
  buffers_[index].memory.copy_to(copy, start());
  return verifier_.verify(index, copy.data(), pattern, {{}, change_on_host()});
}

InputChange GpuMemory::change_on_host() const {
  InputChange change;
  if (!changes_) return change;
  change.rows.resize(rows_.bytes() / sizeof(double));
  change.cols.resize(cols_.bytes() / sizeof(double));
  rows_.copy_to(std::as_writable_bytes(std::span(change.rows)));
  cols_.copy_to(std::as_writable_bytes(std::span(change.cols)));
  change.batches = stored(view_a(std::get<Gemm>(verifier_.problem()))).batch;
  return change;
}

}  // namespace tune::worker
