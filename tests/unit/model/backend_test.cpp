#include "model/backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace tune::backend_test {
namespace {

TEST(Backends, AreKnownByTheirNames) {
  for (const BackendTraits& traits : backends()) {
    EXPECT_EQ(parse_backend(traits.name), traits.backend);
    EXPECT_EQ(to_text(traits.backend), traits.name);
    EXPECT_EQ(traits_of(traits.backend).artifact, traits.artifact);
  }
  EXPECT_EQ(parse_backend("auto"), Backend::automatic);
  EXPECT_EQ(to_text(Backend::automatic), "auto");
  EXPECT_EQ(parse_backend("rocm"), std::nullopt);
  EXPECT_EQ(backend_names(), (std::vector<std::string_view>{"auto", "cuda", "hip", "cpu", "program"}));
}

TEST(Backends, AreChosenByTheSuffixOfASource) {
  EXPECT_EQ(backend_of_source("a/gemm.cu"), Backend::cuda);
  EXPECT_EQ(backend_of_source("gemm.hip"), Backend::hip);
  EXPECT_EQ(backend_of_source("gemm.cxx"), Backend::cpu);
  EXPECT_EQ(backend_of_source("gemm.mojo"), std::nullopt);
  EXPECT_EQ(backend_of_source("gemm"), std::nullopt);
}

TEST(Backends, TellTheirSourcesArchitecturesAndArtifactsApart) {
  std::set<std::string> seen;
  for (const BackendTraits& traits : backends()) {
    for (const std::string_view suffix : traits.suffixes) EXPECT_TRUE(seen.emplace(suffix).second) << suffix;
    EXPECT_TRUE(seen.emplace(traits.artifact).second) << traits.artifact;
    EXPECT_TRUE(traits.arch.empty() || seen.emplace(traits.arch).second) << traits.arch;
    EXPECT_EQ(traits.is_gpu, *traits.device_choice != '\0') << traits.name;
    EXPECT_TRUE(std::string_view(traits.arch_example).starts_with(traits.arch)) << traits.name;
    EXPECT_TRUE(std::ranges::is_sorted(traits.device_names)) << traits.name;
  }
}

}  // namespace
}  // namespace tune::backend_test
