#include "model/statistics/entrant.h"

#include <gtest/gtest.h>

namespace tune::entrant_test {
namespace {

using enum Entrant::Kind;

TEST(Entrant, OfALabelHasItsKind) {
  EXPECT_EQ(entrant_of("").kind, spec);
  EXPECT_EQ(entrant_of("vendor").kind, vendor_first);
  EXPECT_EQ(entrant_of("vendor best").kind, vendor_fastest);
  for (const char* label : {"baseline", "baseline 2", "old.yaml", "vendor.yaml", "default"})
    EXPECT_EQ(entrant_of(label).kind, baseline) << label;
}

TEST(Entrant, IsCalledAsItsLabelSays) {
  for (const char* label : {"", "vendor", "vendor best", "baseline", "baseline 2", "old.yaml"})
    EXPECT_EQ(label_of(entrant_of(label)), label);
}

TEST(Entrant, OfTheSpaceHasNoLabel) {
  EXPECT_EQ(label_of({Spec{7, {}}}), "");
  EXPECT_EQ(label_of({Spec{7, {}}, current_default, "default"}), "");
}

TEST(Entrant, CompetesIfItIsASpec) {
  EXPECT_TRUE(Entrant().is_spec());
  EXPECT_TRUE((Entrant{{}, current_default}.is_spec()));
  for (const Entrant::Kind kind : {baseline, vendor_first, vendor_fastest})
    EXPECT_FALSE((Entrant{{}, kind, "vendor"}.is_spec()));
}

}  // namespace
}  // namespace tune::entrant_test
