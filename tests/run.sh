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
# Some tests wait, so that there are more at a time than cores. What the failed ones printed comes again at the end.
run_tests() {
  local status=0
  ctest --preset check -j8 || status=$?
  [ $status -eq 0 ] || awk '/^[0-9]+\/[0-9]+ Testing: / { text = "" } { text = text $0 "\n" } /^Test Failed/ { printf "%s", text }' \
    build/check/Testing/Temporary/LastTest.log
  return $status
}
part "tests" run_tests
echo "all of it: $SECONDS s"
