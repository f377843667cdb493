#!/usr/bin/env bash
# Installs what is missing, builds everything with warnings as errors, and runs all tests; prints the time of each part.
set -euo pipefail
cd "$(dirname "$0")/.."

part() {
  local name=$1 start=$SECONDS
  shift
  echo "== $name"
  "$@"
  echo "== $name: $((SECONDS - start)) s"
}

may_be_skipped() {  # what says SKIPPED, and exits with 77, where it cannot run
  "$@" || [ $? -eq 77 ]
}

part "install" demo/setup.sh libgtest-dev python3 procps libamdhip64-dev lld clang-format clang-tidy valgrind
part "lint" tests/lint.sh
part "configure" cmake --preset check
part "build" cmake --build --preset check -j2
part "Kokkos" may_be_skipped tests/kokkos.sh build/check
part "clusters" may_be_skipped tests/clusters.sh build/check
# Some tests wait, so that there are more at a time than cores. Four took as long as three.
part "tests" ctest --preset check -j3
echo "all of it: $SECONDS s"
