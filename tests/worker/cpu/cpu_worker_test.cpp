// The CPU backend over real kernels, in this process; what ends a process is in worker_protocol_test.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "model/values/error.h"
#include "platform/store/store.h"
#include "support/cpu_fixture.h"
#include "wire/argument_lists.h"

namespace tune::cpu_worker_test {
namespace {

class CpuWorker : public CpuFixture {
 protected:
  void SetUp() override {
    CpuFixture::SetUp();
    gemm_.m = 20;
    gemm_.n = 30;
    gemm_.k = 40;
  }

  wire::KernelLaunch launch(const std::string& kernel, const std::vector<const char*>& buffers,
                            const std::vector<std::int64_t>& sizes) const {
    wire::KernelLaunch result;
    result.kernel = kernel;
    for (const char* name : buffers) result.args.push_back(buffer_arg(name));
    for (const std::int64_t size : sizes) result.args.push_back(scalar_arg(size));
    return result;
  }
  wire::KernelLaunch gemm_launch(const std::string& kernel) const {
    return launch(kernel, {"A", "B", "C"}, {gemm_.m, gemm_.n, gemm_.k});
  }

  wire::BuildRequest build_request(const std::string& kernel) const {
    wire::BuildRequest request;
    request.source = kernel_file("faults.cpp");
    request.flags = {"-O1"};
    request.problem = gemm_;
    request.launches = {gemm_launch(kernel)};
    return request;
  }

  wire::MeasureRequest measure_request(const wire::BuildRequest& build_request) {
    wire::MeasureRequest request;
    request.artifact = build(build_request);
    request.problem = build_request.problem;
    request.what = wire::KernelRun{build_request.launches};
    return request;
  }
  static wire::KernelRun& run_of(wire::MeasureRequest& request) { return std::get<wire::KernelRun>(request.what); }
  wire::MeasureRequest fault(const std::string& kernel) { return measure_request(build_request(kernel)); }

  std::string check_failure(const std::string& kernel) {
    const wire::MeasureRequest request = fault(kernel);
    return refusal(Stage::check, [&] { measure(request); });
  }
  std::string build_failure(const wire::BuildRequest& request) {
    return first_line(refusal(Stage::build, [&] { build(request); }));
  }

  Gemm gemm_;
};

TEST_F(CpuWorker, MeasuresARightKernel) {
  const wire::Measured measured = measure(fault("right"));
  EXPECT_TRUE(measured.checked);
  EXPECT_GT(measured.timing.median, 0);
  EXPECT_GT(checked_.seconds, 0);
  EXPECT_LE(checked_.max_error, 1);
  EXPECT_GT(built_.properties.at("code"), 0);
  EXPECT_GT(built_.properties.at("stack"), 0);
}

TEST_F(CpuWorker, FindsWritesOutsideTheBuffers) {
  EXPECT_EQ(check_failure("writes_past_the_end"),
            "guard band hit: 12 bytes written past the end of C, first at byte +0");
  EXPECT_EQ(check_failure("writes_before_the_start"),
            "guard band hit: 4 bytes written before the start of C, last at byte -1");
}

TEST_F(CpuWorker, FindsOverwrittenInputs) {
  EXPECT_EQ(check_failure("overwrites_an_input"), "input B was overwritten at element 17");
}

TEST_F(CpuWorker, FindsNaN) {
  const std::string text = check_failure("is_all_nan");
  EXPECT_EQ(first_line(text), "wrong result in C");
  EXPECT_NE(text.find("600 of 600 elements are wrong (100 %), 600 NaN"), std::string::npos) << text;
}

TEST_F(CpuWorker, FindsAResultThatIsRightOnlyTheFirstTime) {
  EXPECT_EQ(first_line(check_failure("is_right_once")), "wrong result in C");
}

TEST_F(CpuWorker, KeepsWrongOutputAndReference) {
  wire::MeasureRequest request = fault("is_all_nan");
  request.keep = folder_ / "kept";
  refusal(Stage::check, [&] { measure(request); });
  EXPECT_EQ(std::filesystem::file_size(folder_ / "kept/C.wrong.f32"), 600 * sizeof(float));
  EXPECT_EQ(std::filesystem::file_size(folder_ / "kept/C.reference.f64"), 600 * sizeof(double));
}

TEST_F(CpuWorker, PassesOnWhatAKernelThrows) {
  const wire::MeasureRequest request = fault("throws");
  EXPECT_THROW(measure(request), std::exception);
}

TEST_F(CpuWorker, ZeroesCForKernelsThatAddToIt) {
  wire::MeasureRequest request = fault("adds");
  EXPECT_EQ(first_line(refusal(Stage::check, [&] { measure(request); })), "C was not fully written");
  run_of(request).zero_c = true;
  EXPECT_TRUE(measure(request).checked);
}

TEST_F(CpuWorker, RunsSeveralKernelsOverAZeroedWorkspace) {
  wire::BuildRequest build = build_request("right");
  build.launches = {launch("adds_to_workspace", {"A", "B", "workspace"}, {gemm_.m, gemm_.n, gemm_.k}),
                    launch("copies", {"workspace", "C"}, {gemm_.m, gemm_.n})};
  wire::MeasureRequest request = measure_request(build);
  run_of(request).workspace_bytes = gemm_.m * gemm_.n * 4;
  EXPECT_EQ(first_line(refusal(Stage::check, [&] { measure(request); })), "C was not fully written");
  run_of(request).zero_workspace = true;
  EXPECT_TRUE(measure(request).checked);
}

TEST_F(CpuWorker, SaysThatItDidNotCheckWithoutAReference) {
  const wire::MeasureRequest request = fault("right");
  const auto backend = worker::make_backend();
  backend->load(request);
  EXPECT_FALSE(backend->measure({}, [](const wire::Event&) {})->checked);
}

TEST_F(CpuWorker, FailsWithTheCompilersFirstError) {
  wire::BuildRequest request = build_request("right");
  const std::filesystem::path source = folder_ / "broken.cpp";
  platform::write_file(source, "int good;\nint bad = nothing;\n");
  request.source = source;
  EXPECT_EQ(build_failure(request).substr(0, 28), "broken.cpp:2:11: error: 'not");
  platform::write_file(source, "#include \"absent.h\"\n");
  EXPECT_EQ(build_failure(request), "broken.cpp:1:10: fatal error: absent.h: No such file or directory");
}

TEST_F(CpuWorker, NamesAKernelThatIsNotThere) {
  wire::BuildRequest request = build_request("scael");
  request.source = folder_ / "scale.cpp";
  platform::write_file(request.source, "extern \"C\" void scale(float*, int) {}\n");
  EXPECT_EQ(refusal(Stage::build, [&] { build(request); }),
            "kernel 'scael' is not declared in scale.cpp, did you mean 'scale'?");
  request.launches = {gemm_launch("convolve")};
  EXPECT_EQ(refusal(Stage::build, [&] { build(request); }), "kernel 'convolve' is not declared in scale.cpp");
}

TEST_F(CpuWorker, ChecksCountAndTypesOfArguments) {
  wire::BuildRequest request = build_request("right");
  request.launches[0].args.pop_back();
  EXPECT_EQ(build_failure(request),
            "args do not fit the parameters of kernel 'right': the kernel has 6 parameters, args has 5 "
            "entries");
  request = build_request("right");
  std::swap(request.launches[0].args[1], request.launches[0].args[2]);
  EXPECT_EQ(build_failure(request),
            "args do not fit the parameters of kernel 'right': parameter 3 of the kernel is float*, the entry of "
            "args is const float* B");
  request.launches[0].args[0].buffer = "X";
  EXPECT_EQ(build_failure(request), "launch.args: the problem has no buffer X");
}

TEST_F(CpuWorker, ParametersMayHaveAnyName) {
  wire::BuildRequest request = build_request("right");
  for (const char* name : {"T", "kernel", "launch", "fits", "Kernel", "Arguments", "kFits"})
    request.defines.push_back({name, "4"});
  EXPECT_NE(measure_request(request).artifact, "");
}

TEST_F(CpuWorker, AnErrorInTheParametersIsNoMisfitOfArguments) {
  wire::BuildRequest request = build_request("right");
  request.source = folder_ / "right.c";
  platform::write_file(request.source, "void right(const flot* A) {}\n");
  EXPECT_EQ(build_failure(request).substr(0, 21), "right.c:1:18: error: ");
  platform::write_file(request.source, "void right(const float* restrict A, float* C) {}\n");
  EXPECT_EQ(build_failure(request).substr(0, 10), "right.c:1:");
}

TEST(ArgumentLists, StandOneBelowTheOther) {
  EXPECT_EQ(wire::arguments_do_not_fit("gemm", {{"8 bytes"}, {"4 bytes"}}, {{"8 bytes", "A"}, {"8 bytes", "m"}}, 1),
            "args do not fit the parameters of kernel 'gemm': parameter 2 of the kernel is 4 bytes, the entry of "
            "args is 8 bytes m\n"
            "the kernel:   8 bytes,   4 bytes\n"
            "args:         8 bytes A, 8 bytes m");
}

TEST_F(CpuWorker, RefusesSizesThatAnIntCannotHold) {
  wire::MeasureRequest request = fault("right");
  run_of(request).launches[0].args[3].integer = std::int64_t{1} << 32;
  EXPECT_EQ(refusal(Stage::load, [&] { measure(request); }), "args: 4294967296 does not fit an int; write {i64: ...}");
}

TEST_F(CpuWorker, SaysWhichCompilerItCouldNotFind) {
  const char* before = std::getenv("CXX");
  const std::string saved = before ? before : "";
  ::setenv("CXX", "no-such-compiler", 1);
  try {
    build(build_request("right"));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_EQ(std::string(error.what()).substr(0, 46), "no compiler: cannot start no-such-compiler: no");
  }
  before ? ::setenv("CXX", saved.c_str(), 1) : ::unsetenv("CXX");
}

TEST_F(CpuWorker, TheUsersFlagsWin) {
  wire::BuildRequest request = build_request("right");
  request.flags = {"-std=c++98"};
  EXPECT_NE(build_failure(request).find("error"), std::string::npos);
}

TEST_F(CpuWorker, ChecksACustomProblemAgainstATrustedKernel) {
  Custom problem;
  problem.buffers = {{"in", Type::f64, 1000, Init::normal, Buffer::Role::in},
                     {"out", Type::f64, 1000, Init::zeros, Buffer::Role::out}};
  wire::BuildRequest build;
  build.source = kernel_file("scale.cpp");
  build.problem = problem;
  build.launches = {launch("scale", {"in", "out"}, {1000})};
  wire::Arg factor = scalar_arg(0, Argument::Scalar::f64);
  factor.number = 2.5;
  build.launches[0].args.push_back(factor);

  wire::MeasureRequest request = measure_request(build);
  wire::ReferenceRequest reference;
  reference.problem = problem;
  reference.artifact = request.artifact;
  reference.launches = build.launches;
  reference.output = request.reference = folder_ / "trusted";
  worker::make_backend()->reference(reference);
  EXPECT_TRUE(measure(request).checked);

  build.launches[0].kernel = "scale_all_but_one";
  request.artifact = measure_request(build).artifact;
  EXPECT_EQ(first_line(refusal(Stage::check, [&] { measure(request); })), "out was not fully written");
}

TEST_F(CpuWorker, RefusesATimeThatNoMachineReaches) {
  Custom problem;
  problem.buffers = {{"in", Type::f64, 1000, Init::normal, Buffer::Role::in},
                     {"out", Type::f64, 1000, Init::zeros, Buffer::Role::out}};
  problem.flops = 1e21;
  wire::BuildRequest build;
  build.source = kernel_file("scale.cpp");
  build.problem = problem;
  build.launches = {launch("scale", {"in", "out"}, {1000})};
  build.launches[0].args.push_back(scalar_arg(0, Argument::Scalar::f64));
  const wire::MeasureRequest request = measure_request(build);
  const auto backend = worker::make_backend();
  backend->load(request);
  const std::string text = refusal(Stage::measure, [&] { backend->measure({}, [](const wire::Event&) {}); });
  EXPECT_TRUE(text.starts_with("faster than the device can be: ")) << text;
}

TEST_F(CpuWorker, VerifiesEveryLaunchAlsoWithoutBeingAskedToCheck) {
  const wire::MeasureRequest request = fault("is_right_once");
  wire::MeasureRequest with_reference = request;
  with_reference.reference = folder_ / "reference";
  wire::ReferenceRequest reference;
  reference.problem = request.problem;
  reference.output = with_reference.reference;
  worker::make_backend()->reference(reference);
  const auto backend = worker::make_backend();
  backend->load(with_reference);
  EXPECT_EQ(first_line(refusal(
                Stage::check,
                [&] { backend->measure({.launches = 5, .check = wire::Go::Check::no}, [](const wire::Event&) {}); })),
            "wrong result in C");
}

// What the buffers take of this process's memory.
std::int64_t shared_kilobytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string word; file >> word;)
    if (std::int64_t count = 0; word == "Pss_Shmem:" && file >> count) return count;
  return -1;
}

// Which pages they are changes the time.
TEST_F(CpuWorker, ATurnOfTheFinalsLeavesItsPagesToOthers) {
  const auto ignored = [](const wire::Event&) {};
  const auto backend = worker::make_backend();
  backend->load(fault("right"));
  backend->measure({}, ignored);
  const std::int64_t held = shared_kilobytes();
  ASSERT_GT(held, 0);
  for (const auto check : {wire::Go::Check::yes, wire::Go::Check::no}) {
    const auto measured = backend->measure({.launches = 3, .check = check}, ignored);
    EXPECT_GT(measured->timing.median, 0);
    EXPECT_LT(shared_kilobytes(), held / 2);
  }
}

TEST_F(CpuWorker, DescribesTheMachineByTheDocumentedNames) {
  const wire::Hello hello = worker::make_backend()->probe();
  EXPECT_EQ(hello.backend, Backend::cpu);
  const auto documented = traits_of(Backend::cpu).device_names;
  for (const std::string_view name : documented)
    EXPECT_TRUE(hello.device.properties.contains(std::string(name)) || name == "idle_power_w") << name;
  for (const auto& [name, value] : hello.device.properties)
    EXPECT_TRUE(std::ranges::find(documented, name) != documented.end() || name == "no_energy") << name;
  EXPECT_FALSE(hello.compiler.empty());
}

}  // namespace
}  // namespace tune::cpu_worker_test
