#include <gtest/gtest.h>

#include "model/grid_scan.h"
#include "support/tuning_folder.h"

namespace tune::t1_test {
namespace {

const std::string kT1 = R"json({
 "ConfigurationSpace": {
  "TuningParameters": [
   {"Name": "block_x", "Type": "int", "Values": "[32, 64, 2*64]", "Default": 64},
   {"Name": "vector", "Type": "int", "Values": "[2**i for i in range(3)]"},
   {"Name": "unroll", "Type": "int", "Values": "list(range(1, 4))", "Default": 2},
   {"Name": "pad", "Type": "bool", "Values": "[True, False]", "Default": false}],
  "Conditions": [{"Expression": "block_x * vector <= 128 and unroll % 2 == 0", "Parameters": ["block_x", "vector"]}]},
 "Search": {"Name": "random"}, "Budget": [{"Type": "ConfigurationCount", "BudgetValue": 100}],
 "KernelSpecification": {
  "Language": "CUDA", "KernelName": "add", "KernelFile": "add.cu", "CompilerOptions": ["-std=c++17"],
  "ProblemSize": [4096, 16], "GlobalSizeType": "CUDA",
  "GlobalSize": {"X": "ProblemSize[0]", "Y": "ProblemSize[1]"}, "GridDivX": ["block_x", "vector"],
  "LocalSize": {"X": "block_x"}, "SharedMemory": 256,
  "Arguments": [
   {"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": "ProblemSize[0]*ProblemSize[1]"},
   {"Type": "float4", "MemoryType": "Vector", "AccessType": "ReadOnly", "FillType": "Random", "Size": 16384},
   {"Type": "int32", "MemoryType": "Scalar", "FillValue": 4096},
   {"Type": "float", "MemoryType": "Scalar", "FillValue": 0.5}]}
})json";

Plan plan_of(const TuningFolder& folder, const std::string& text, const config::LoadRules& options = {}) {
  folder.write("add.cu", "");
  return config::load(std::vector{folder.write("t1.json", text)}, options).plan;
}

std::string complaint(const std::string& text) {
  const TuningFolder folder;
  return folder.complaint([&] { plan_of(folder, text); });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  return text.replace(text.find(from), from.size(), to);
}

TEST(T1, IsReadAsATuningFile) {
  const TuningFolder folder;
  const Plan plan = plan_of(folder, kT1);
  EXPECT_EQ(plan.name, "add");
  EXPECT_EQ(plan.kernel()->name, "add");
  EXPECT_EQ(plan.backend(), Backend::cuda);
  EXPECT_EQ(plan.space.product_size(), 3 * 3 * 3 * 2);
  GridScan scan(plan.space);
  int valid = 0;
  while (scan.next()) ++valid;
  EXPECT_EQ(valid, 6 * 1 * 2);
  EXPECT_EQ(plan.build.flags, std::vector<std::string>{"-std=c++17"});
  EXPECT_EQ(plan.default_settings.size(), 3u);
  EXPECT_EQ(std::get<TrustedSpec>(plan.kernel()->reference).settings.size(), 4u);
  const auto& custom = std::get<Custom>(plan.problem);
  ASSERT_EQ(custom.buffers.size(), 2u);
  EXPECT_EQ(custom.buffers[0].role, Buffer::Role::out);
  EXPECT_EQ(custom.buffers[0].count, 65536);
  EXPECT_EQ(custom.buffers[1].name, "arg1");
  EXPECT_EQ(custom.buffers[1].count, 65536);
}

TEST(T1, LaunchesWhatItSays) {
  const TuningFolder folder;
  const Plan plan = plan_of(folder, kT1);
  ASSERT_EQ(plan.kernel()->launches.size(), 1u);
  const Launch& launch = plan.kernel()->launches.front();
  const std::vector<Setting> settings = {
      {"block_x", std::int64_t{32}}, {"vector", std::int64_t{4}}, {"unroll", std::int64_t{2}}, {"pad", Bool{true}}};
  const std::vector<Value> slots = plan.space.environment(std::get<Spec>(plan.space.at(settings)));
  const auto value = [&](const Expression& expression) {
    EvalFailure failure;
    return expression.number(slots, failure);
  };
  ASSERT_EQ(launch.grid.size(), 2u);
  EXPECT_EQ(value(launch.grid[0]), 32);
  EXPECT_EQ(value(launch.grid[1]), 16);
  ASSERT_EQ(launch.block.size(), 1u);
  EXPECT_EQ(value(launch.block[0]), 32);
  ASSERT_TRUE(launch.shared);
  EXPECT_EQ(value(*launch.shared), 256);
  ASSERT_EQ(launch.args.size(), 4u);
  EXPECT_EQ(launch.args[2].type, Argument::Scalar::i32);
  EXPECT_EQ(launch.args[3].type, Argument::Scalar::f32);
}

TEST(T1, GridsInThreadsAreDividedByTheBlock) {
  const TuningFolder folder;
  const Plan plan =
      plan_of(folder, replaced(replaced(kT1, "\"GlobalSizeType\": \"CUDA\"", "\"GlobalSizeType\": \"OpenCL\""),
                               "\"GridDivX\": [\"block_x\", \"vector\"],", ""));
  EvalFailure failure;
  const std::vector<Setting> settings = {
      {"block_x", std::int64_t{64}}, {"vector", std::int64_t{1}}, {"unroll", std::int64_t{2}}, {"pad", Bool{true}}};
  const auto slots = plan.space.environment(std::get<Spec>(plan.space.at(settings)));
  EXPECT_EQ(plan.kernel()->launches.front().grid[0].number(slots, failure), 64);
}

/// The values of `vector` if Python's text for them is this.
std::string values_of(const std::string& text) {
  const TuningFolder folder;
  const std::string t1 = replaced(kT1, "block_x * vector <= 128 and unroll % 2 == 0", "unroll == 2");
  const Plan plan =
      plan_of(folder, replaced(replaced(t1, "\"GridDivX\": [\"block_x\", \"vector\"]", "\"GridDivX\": [\"block_x\"]"),
                               "[2**i for i in range(3)]", text));
  std::string values;
  for (const Value& value : plan.space.mappings().front().parameters.at(1).values) values += to_text(value) + " ";
  return values;
}

TEST(T1, ReadsListsAsPythonWritesThem) {
  EXPECT_EQ(values_of("[2**i for i in range(6)]"), "1 2 4 8 16 32 ");
  EXPECT_EQ(values_of("[1, 2] + list(range(4, 8+1, 2))"), "1 2 4 6 8 ");
  EXPECT_EQ(values_of("[1] + [2 * i for i in range(1, 3)] + (7, 9)"), "1 2 4 7 9 ");
  EXPECT_EQ(values_of("[i for i in range(1, 13) if 12 % i == 0 and i not in (1, 12)]"), "2 3 4 6 ");
  EXPECT_EQ(values_of("[i // 2 for i in [2, 4, 8]]"), "1 2 4 ");
  EXPECT_EQ(values_of("([3] + [4])"), "3 4 ");
  EXPECT_EQ(values_of("['a + b', 'c']"), "a + b c ");
  EXPECT_NE(complaint(replaced(kT1, "[2**i for i in range(3)]", "[1] + 2"))
                .find("t1.json:5: '[1] + 2' is no list of values that tune understands; write the values out"),
            std::string::npos);
}

TEST(T1, ReadsConditionsAsPythonWritesThem) {
  const auto valid = [](const std::string& condition) {
    const TuningFolder folder;
    const Plan plan =
        plan_of(folder, replaced(kT1, "block_x * vector <= 128 and unroll % 2 == 0", condition + " and unroll == 2"));
    GridScan scan(plan.space);
    int count = 0;
    while (scan.next()) ++count;
    return count / 2;  // pad
  };
  EXPECT_EQ(valid("not (block_x == 64 or vector == 1)"), 4);
  EXPECT_EQ(valid("32 <= block_x * vector <= 64"), 3);
  EXPECT_EQ(valid("block_x in (32, 128) and vector not in [1, 2]"), 2);
  EXPECT_EQ(valid("block_x // 2**vector > 8 and block_x % (96/3) == 0"), 5);
}

TEST(T1, ADefaultMayBeAListOfOneValue) {
  const TuningFolder folder;
  const Plan plan = plan_of(folder, replaced(kT1, "\"Default\": 64", "\"Default\": [64]"));
  EXPECT_EQ(plan.default_settings.front().value, Value(std::int64_t{64}));
}

TEST(T1, WhereTheDefaultsAreAgainstTheConditionsTheFirstValidSpecIsTrusted) {
  const TuningFolder folder;
  const Plan plan = plan_of(folder, replaced(kT1, "\"Default\": 2}", "\"Default\": 3}"));
  ASSERT_EQ(std::get<TrustedSpec>(plan.kernel()->reference).settings.size(), 4u);
  EXPECT_EQ(std::get<TrustedSpec>(plan.kernel()->reference).settings[0].value, Value(std::int64_t{32}));
  EXPECT_EQ(std::get<TrustedSpec>(plan.kernel()->reference).settings[2].value, Value(std::int64_t{2}));
}

TEST(T1, DivisorsDivideTheSizeOfTheProblem) {
  const TuningFolder folder;
  const Plan plan = plan_of(folder, replaced(kT1, "\"X\": \"ProblemSize[0]\"", "\"X\": \"100 // block_x\""));
  EvalFailure failure;
  const std::vector<Setting> settings = {
      {"block_x", std::int64_t{64}}, {"vector", std::int64_t{1}}, {"unroll", std::int64_t{2}}, {"pad", Bool{true}}};
  const auto slots = plan.space.environment(std::get<Spec>(plan.space.at(settings)));
  EXPECT_EQ(plan.kernel()->launches.front().grid[0].number(slots, failure), 4096 / 64);
}

TEST(T1, SizesMayNameTheLargestValueOfAParameter) {
  const TuningFolder folder;
  const Plan plan = plan_of(folder, replaced(kT1, "\"ProblemSize[0]*ProblemSize[1]\"", "\"max(block_x) + min(pad)\""));
  EXPECT_EQ(std::get<Custom>(plan.problem).buffers[0].count, 128);
}

TEST(T1, MoreThanThreeSizesHaveNumbers) {
  const TuningFolder folder;
  const Plan plan = plan_of(folder, replaced(replaced(kT1, "[4096, 16]", "[4096, 16, 2, 3]"),
                                             "\"ProblemSize[0]*ProblemSize[1]\"", "\"ProblemSize[0]*ProblemSize[3]\""));
  EXPECT_EQ(std::get<Custom>(plan.problem).buffers[0].count, 4096 * 3);
  EXPECT_NE(complaint(replaced(kT1, "\"ProblemSize[0]*ProblemSize[1]\"", "\"ProblemSize[3]\"")).find("ProblemSize"),
            std::string::npos);
}

TEST(T1, OfAnyLanguageIsListedAndSimulated) {
  const TuningFolder folder;
  const std::string opencl = replaced(kT1, "\"CUDA\", \"KernelName\"", "\"OpenCL\", \"KernelName\"");
  config::LoadRules listed;
  listed.file_must_exist = false;
  EXPECT_EQ(plan_of(folder, opencl, listed).space.product_size(), 3 * 3 * 3 * 2);
  config::LoadRules simulated;
  simulated.measured_here = false;
  EXPECT_EQ(plan_of(folder, opencl, simulated).space.product_size(), 3 * 3 * 3 * 2);
  EXPECT_EQ(plan_of(folder, replaced(kT1, "\"CUDA\", \"KernelName\"", "\"HIP\", \"KernelName\"")).backend(),
            Backend::hip);
}

TEST(T1, SaysWhatTuneHasNoCounterpartFor) {
  EXPECT_EQ(
      complaint(replaced(kT1, "\"CUDA\", \"KernelName\"", "\"OpenCL\", \"KernelName\"")),
      "t1.json:11: the kernel's language is OpenCL; of this format tune runs CUDA and HIP. --dry-run lists its specs, "
      "and --simulate answers them from a recording");
  EXPECT_NE(complaint(replaced(kT1, "\"Size\": 16384", "\"MemType\": \"Constant\", \"Size\": 16384"))
                .find("tune copies nothing to constant memory"),
            std::string::npos);
  EXPECT_NE(complaint(replaced(kT1, "\"float4\"", "\"int16\"")).find("no buffers of type int16"), std::string::npos);
  EXPECT_NE(complaint(replaced(kT1, "\"Random\"", "\"BinaryRaw\"")).find("not by FillType BinaryRaw"),
            std::string::npos);
  EXPECT_NE(
      complaint(replaced(kT1, "[2**i for i in range(3)]", "[f(i) for i in range(3)]")).find("write the values out"),
      std::string::npos);
  EXPECT_NE(complaint(replaced(kT1, "\"KernelName\": \"add\", ", "")).find("KernelName is missing"), std::string::npos);
  EXPECT_NE(
      complaint(replaced(kT1, "\"KernelSpecification\": {", "\"KernelSpecification\": 1, \"X\": {")).find("is missing"),
      std::string::npos);
}

}  // namespace
}  // namespace tune::t1_test
