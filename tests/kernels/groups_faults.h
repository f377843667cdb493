#pragma once

/// The mistakes that groups.cpp makes on request.
enum class GroupsFault {
  kNone,
  kLastRowMissing,     ///< of each group
  kLastGroupMissing,   ///< that has rows
  kWholeTiles,         ///< stores cross the end of a group, into the next or into its padding
  kEmptyGroupWritten,  ///< a row where an empty group begins
  kNextB,
  kFirstBAlways,
  kOneBInATile,            ///< that of its first row
  kEvenGroups,             ///< whatever the list says
  kEmptyGroupsNotCounted,  ///< by the number of B
  kFirstProductAlways,
  kFirstAAlways,
  kListWritten,         ///< of offsets, or of rows
  kScalesOfRowInGroup,  ///< by its number within the group
  kNextScalesOfB,
};
