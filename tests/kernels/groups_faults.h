#pragma once

/// The mistakes that groups.cpp makes on request.
enum class GroupsFault {
  kNone,
  kLastRowMissing,     ///< of each group
  kLastGroupMissing,   ///< that has rows
  kWholeTiles,         ///< stores cross the end of a group
  kEmptyGroupWritten,  ///< a row where an empty group begins
  kNextB,
  kFirstBAlways,
  kOneBInATile,            ///< that of its first row
  kEvenGroups,             ///< whatever the offsets say
  kEmptyGroupsNotCounted,  ///< by the number of B
  kFirstProductAlways,
  kFirstAAlways,
  kOffsetsWritten,
};
