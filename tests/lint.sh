#!/usr/bin/env bash
# Checks the layout of all C++ files (.clang-format), and with clang-tidy (.clang-tidy) the sources that the last commit
# changed, at most 10 of them; with --all every source, which takes many minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
most=10
# Clang 14 lacks what these use: structured bindings in lambdas, _Float16 on x86, names of CPU features.
not_for_clang='/(worker/checking/rotated_inputs|worker/measuring/cache_flush|tests/worker/checking/elements_test|tests/demo/mfma_test|tests/cli/run/cli_kill_test)\.cpp$'

find src worker tests demo -name '*.cpp' -o -name '*.h' -o -name '*.cu' |
  xargs -n 100 -P "$(nproc)" clang-format --dry-run --Werror

# clang does not read GCC's precompiled headers.
cmake -S . -B build/lint -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
compiled() { grep -o '"file": "[^"]*"' build/lint/compile_commands.json | cut -d'"' -f4 | grep -vE "$not_for_clang" | sort -u; }
changed() { git diff --name-only --diff-filter=d HEAD~1 2>/dev/null | sed "s|^|$PWD/|" | sort -u; }
if [ "${1:-}" = --all ]; then
  compiled | grep -v "^$PWD/build/" >build/lint/sources
else
  comm -12 <(compiled) <(changed) | head -n "$most" >build/lint/sources
fi
echo "clang-tidy: $(wc -l <build/lint/sources) sources"
xargs -r -n 4 -P "$(nproc)" clang-tidy -p build/lint --quiet --extra-arg=-Wno-unknown-warning-option <build/lint/sources \
  2> >(grep -v 'warnings\? generated' >&2)
