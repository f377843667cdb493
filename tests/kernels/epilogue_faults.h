#pragma once

/// The mistakes that epilogue.cpp makes on request.
enum class EpilogueFault {
  kNone,
  kNoActivation,
  kRelu,
  kGeluErf,
  kGeluTanh,
  kSilu,
  kSigmoid,
  kBiasAfterActivation,
  kNoBias,
  kNoResidual,
  kResidualBeforeActivation,
  kResidualTransposed,
  kActivationOfPartialSums,
  kHalvesExchanged,
};
