// Fails to compile unless tune/kokkos_tools.h and the header of Kokkos lay out the same bytes.
#include <impl/Kokkos_Profiling_C_Interface.h>

#include <cstddef>
#include <type_traits>

#include "tune/kokkos_tools.h"

namespace tools = tune::tools;

#define SAME_SIZE(ours, theirs) \
  static_assert(sizeof(ours) == sizeof(theirs) && alignof(ours) == alignof(theirs), #theirs)
#define SAME_PLACE(ours, our_member, theirs, their_member)                      \
  static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member) && \
                    sizeof(ours::our_member) == sizeof(theirs::their_member),   \
                #theirs "." #their_member)
/// Kokkos' structure of a goal, whose name is misspelled in some versions: what the function takes that declares one.
template <typename Goal>
Goal goal_of(void (*)(std::size_t, Goal));
using TheirGoal = decltype(goal_of(Kokkos_Tools_optimizationGoalDeclarationFunction{}));

#define SAME_NUMBER(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs), #theirs)

using Union = Kokkos_Tools_VariableValue_ValueUnion;
SAME_SIZE(tools::Scalar, Union);
SAME_PLACE(tools::Scalar, integer, Union, int_value);
SAME_PLACE(tools::Scalar, real, Union, double_value);
SAME_PLACE(tools::Scalar, text, Union, string_value);
SAME_SIZE(tools::ScalarArray, Kokkos_Tools_VariableValue_ValueUnionSet);

SAME_SIZE(tools::ValueSet, Kokkos_Tools_ValueSet);
SAME_PLACE(tools::ValueSet, size, Kokkos_Tools_ValueSet, size);
SAME_PLACE(tools::ValueSet, values, Kokkos_Tools_ValueSet, values);

SAME_SIZE(tools::ValueRange, Kokkos_Tools_ValueRange);
SAME_PLACE(tools::ValueRange, lower, Kokkos_Tools_ValueRange, lower);
SAME_PLACE(tools::ValueRange, upper, Kokkos_Tools_ValueRange, upper);
SAME_PLACE(tools::ValueRange, step, Kokkos_Tools_ValueRange, step);
SAME_PLACE(tools::ValueRange, open_lower, Kokkos_Tools_ValueRange, openLower);
SAME_PLACE(tools::ValueRange, open_upper, Kokkos_Tools_ValueRange, openUpper);

SAME_SIZE(tools::VariableInfo, Kokkos_Tools_VariableInfo);
SAME_PLACE(tools::VariableInfo, type, Kokkos_Tools_VariableInfo, type);
SAME_PLACE(tools::VariableInfo, category, Kokkos_Tools_VariableInfo, category);
SAME_PLACE(tools::VariableInfo, quantity, Kokkos_Tools_VariableInfo, valueQuantity);
SAME_PLACE(tools::VariableInfo, candidates, Kokkos_Tools_VariableInfo, candidates);
SAME_PLACE(tools::VariableInfo, of_tool, Kokkos_Tools_VariableInfo, toolProvidedInfo);
static_assert(sizeof(tools::VariableInfo) == 224 && offsetof(tools::VariableInfo, of_tool) == 216);

SAME_SIZE(tools::VariableValue, Kokkos_Tools_VariableValue);
SAME_PLACE(tools::VariableValue, id, Kokkos_Tools_VariableValue, type_id);
SAME_PLACE(tools::VariableValue, value, Kokkos_Tools_VariableValue, value);
SAME_PLACE(tools::VariableValue, info, Kokkos_Tools_VariableValue, metadata);

SAME_SIZE(tools::Goal, TheirGoal);
SAME_PLACE(tools::Goal, id, TheirGoal, type_id);
SAME_PLACE(tools::Goal, direction, TheirGoal, goal);
SAME_SIZE(tools::Settings, Kokkos_Tools_ToolSettings);
SAME_PLACE(tools::Settings, requires_global_fencing, Kokkos_Tools_ToolSettings, requires_global_fencing);
SAME_SIZE(tools::Actions, Kokkos_Tools_ToolProgrammingInterface);
SAME_PLACE(tools::Actions, fence, Kokkos_Tools_ToolProgrammingInterface, fence);

SAME_NUMBER(tools::ValueType::real, kokkos_value_double);
SAME_NUMBER(tools::ValueType::integer, kokkos_value_int64);
SAME_NUMBER(tools::ValueType::text, kokkos_value_string);
SAME_NUMBER(tools::Category::categorical, kokkos_value_categorical);
SAME_NUMBER(tools::Category::ordinal, kokkos_value_ordinal);
SAME_NUMBER(tools::Category::interval, kokkos_value_interval);
SAME_NUMBER(tools::Category::ratio, kokkos_value_ratio);
SAME_NUMBER(tools::Candidates::set, kokkos_value_set);
SAME_NUMBER(tools::Candidates::range, kokkos_value_range);
SAME_NUMBER(tools::Candidates::unbounded, kokkos_value_unbounded);
SAME_NUMBER(tools::Direction::minimize, Kokkos_Tools_Minimize);
SAME_NUMBER(tools::Direction::maximize, Kokkos_Tools_Maximize);
