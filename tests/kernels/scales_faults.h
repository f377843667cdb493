#pragma once

/// The mistakes that scales.cpp makes on request.
enum class ScalesFault {
  kNone,
  kNoScaleOfA,
  kNoScaleOfB,
  kExchanged,
  kNextRow,
  kNextColumn,
  kNextBlock,
  kFirstBlockAlways,
  kOneScaleOfBInATile,
  kLastBlockOfKUnscaled,
  kLastColumnsLikeThoseBefore,
  kOtherOrderOfA,
  kUnpaddedB,
  kDivided,
  kRoundedBefore,
  kFirstProductAlways,
  kFirstBAlways,
};
