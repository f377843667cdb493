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

part "install" demo/setup.sh libgtest-dev python3 procps libamdhip64-dev lld clang-format clang-tidy valgrind
part "lint" tests/lint.sh
part "configure" cmake --preset check
part "build" cmake --build --preset check -j2
# Some tests wait, so that there are more at a time than cores.
part "tests" ctest --preset check -j4
echo "all of it: $SECONDS s"
