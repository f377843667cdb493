# Sourced. The kernel that the tests of clusters tune, and what must hold after each run.

# Its time grows with WASTE * REPEAT: the winner is many times as fast as the next. It sleeps, so that three nodes fit on a
# machine that is busy.
write_kernel() {
  cd "$work/driver"
  cat >gemm.h <<'END'
constexpr int times(int repeat) { return repeat * WASTE; }
END
  cat >gemm.cpp <<'END'
#include <unistd.h>

#include "gemm.h"
extern "C" void gemm(const float* A, const float* B, float* C, int m, int n, int k, int repeat) {
  usleep(200 * times(repeat));
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += A[i * k + p] * B[p * n + j];
      C[i * n + j] = sum;
    }
}
END
  cat >gemm.yaml <<'END'
name: gemm
file: gemm.cpp
kernel: gemm
problem: {gemm: {m: 16, n: 16, k: 16}}
params: {WASTE: [1, 8, 16], $REPEAT: [1, 8, 10, 12, 14, 16]}
launch: {args: [A, B, C, m, n, k, REPEAT]}
measure: {max_seconds: 0.3, cutoff: 0}
END
}

fail() {  # WHY [OUTPUT]
  [ -z "${2:-}" ] || cat "$2" || true
  echo "FAILED: $1"
  exit 1
}

expect() {  # TEXT FILE
  grep -qE -- "$1" "$2" || fail "no '$1' in $2" "$2"
}

say() { echo "$1 ($SECONDS s)"; }

# Starts `tune` with these words in the background, as $driver, with its output in NAME.out.
start_tuning() {  # NAME WORD...
  local name=$1
  shift
  tune --yaml gemm.yaml --tune --output "$name" "$@" >"$name.out" 2>&1 </dev/null &
  driver=$!
}

# The ids of the specs that have been measured, one a line, as often as they have been.
measured() {  # NAME
  [ ! -e "$1.jsonl" ] || sed -n '/"measured":/s/.*"id":"\([0-9a-f]*\)".*/\1/p' "$1.jsonl" | sort
}

has_measured() {  # NAME AT-LEAST
  [ "$(measured "$1" | wc -l)" -ge "$2" ]
}

# Every spec has one result, the winner is that of a run without a cluster, and nothing is left running.
expect_complete() {  # NAME
  [ "$(measured "$1")" = "$(measured alone)" ] || fail "$1: other specs were measured than by the run without a cluster" "$1.out"
  [ "$(grep -A 2 ^params: "$1.yaml")" = "$(grep -A 2 ^params: alone.yaml)" ] || fail "$1: another winner" "$1.out"
  expect_nothing_runs "$1"
}

expect_success() {  # NAME
  wait "$driver" || fail "$1: exit code $?" "$1.out"
  expect_complete "$1"
}

run_without_a_cluster() {
  start_tuning alone
  wait "$driver" || fail "a run without a cluster: exit code $?" alone.out
  [ "$(measured alone | uniq | wc -l)" = 18 ] || fail "a run without a cluster has other than 18 results" alone.out
  expect_nothing_runs "a run without a cluster"
}

nothing_runs() { [ -z "$(of_this_test 'tune.*|srun|ssh')" ]; }

expect_nothing_runs() {  # NAME
  within 60 nothing_runs || fail "$1 left processes: $(ps -o pid,ppid,args -p $(of_this_test 'tune.*|srun|ssh'))"
}
