#!/bin/bash
# Tries libtune_kokkos.so with a real Kokkos: the one in Debian's source package of Trilinos (166 MB), with tuning on.
# Run it in a build of any preset: tests/kokkos.sh [BUILD_FOLDER [KOKKOS]]. KOKKOS is the folder of another version's
# source. It needs the network once, no rights, and about two minutes on two cores; what it downloads and builds is kept
# in BUILD_FOLDER/kokkos, or BUILD_FOLDER/kokkos-NAME for a folder NAME.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
build=$(realpath "${1:-build/dev}")
given=${2:+$(realpath "$2")}
work=$build/kokkos${given:+-$(basename "$given")}
mkdir -p "$work" && cd "$work"

fetch() {
  mkdir -p apt/lists/partial apt/cache/archives/partial
  echo "deb-src http://deb.debian.org/debian $(. /etc/os-release && echo "$VERSION_CODENAME") main" > apt/sources.list
  local options=(-qq -o Dir::Etc::sourcelist="$work/apt/sources.list" -o Dir::Etc::sourceparts=-
    -o Dir::State::lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache" -o APT::Sandbox::User=)
  apt-get "${options[@]}" update && apt-get "${options[@]}" source --download-only trilinos &&
    tar xzf trilinos_*.orig.tar.gz --wildcards --strip-components=2 '*/packages/kokkos/*' && rm -f trilinos_* &&
    # So that its files can be compiled together, in a quarter of the time.
    sed -i 's/ Impl::human_memory_size/ Kokkos::Impl::human_memory_size/' kokkos/core/src/impl/Kokkos_Error.cpp
}

[ -z "$given" ] || ln -sfn "$given" kokkos
[ -d kokkos ] || fetch || { echo "SKIPPED: the source package trilinos cannot be had here"; exit 77; }
# All that is needed of it is its core and what CMake has configured.
if [ ! -f installed/complete ]; then
  cmake -S kokkos -B library -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_CXX_STANDARD=20 \
    -DCMAKE_CXX_FLAGS=-w $([ -n "$given" ] || echo -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=0) \
    -DCMAKE_INSTALL_LIBDIR=lib -DKokkos_ENABLE_TUNING=ON -DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_OPENMP=ON \
    -DCMAKE_INSTALL_PREFIX="$work/installed" > configure.log
  ninja -C library core/install > build.log
  touch installed/complete
fi
headers=(-Iinstalled/include -Ilibrary)
c++ -std=c++20 -fsyntax-only "${headers[@]}" -I"$source/demo" "$source/tests/kokkos/layout.cpp"
echo "the layouts of tune/kokkos_tools.h and of Kokkos are the same"
c++ -std=c++20 -O1 -w -fopenmp "${headers[@]}" "$source/tests/kokkos/application.cpp" -o application \
  -Linstalled/lib -lkokkoscore -ldl

export OMP_NUM_THREADS=2 OMP_PROC_BIND=false OMP_WAIT_POLICY=passive
rm -f results.yaml*
expect() {  # WHAT FILE
  grep -qF -- "$1" "$2" || { echo "FAILED: no '$1' in $work/$2:"; cat "$2"; exit 1; }
}
check() {  # FIRST-LINE OUTPUT
  expect "$1" "$2"
  expect "last: tree 8 0.3 64, tile 4 32 within 3" "$2"
}
tool=$build/lib/libtune_kokkos.so
export KOKKOS_TOOLS_LIBS=$tool KOKKOS_PROFILE_LIBRARY=$tool TUNE_KOKKOS_DB=$work/results.yaml  # the latter: before 4.0
./application variables > one.txt
check "first: list 1 0.0 8, tile 1 1 within 1" one.txt
before=$(wc -l < results.yaml.turns)
./application variables > two.txt
check "first: tree 8 0.3 64, tile 4 32 within 3" two.txt
[ "$(wc -l < results.yaml.turns)" = "$before" ] || { echo "FAILED: the second run searched"; exit 1; }
untuned=(env -u KOKKOS_TOOLS_LIBS -u KOKKOS_PROFILE_LIBRARY -u TUNE_KOKKOS_DB)
"${untuned[@]}" ./application variables --kokkos-tools-libs="$tool" --kokkos-tools-library="$tool" \
  --kokkos-tools-args="db=$TUNE_KOKKOS_DB" > three.txt
check "first: tree 8 0.3 64, tile 4 32 within 3" three.txt
"${untuned[@]}" ./application variables > none.txt
expect "last: list 1 0.0 8, tile 1 1 within 1" none.txt
echo "variables of all kinds, nested contexts and a 2-D tile converge, and the next run begins with the best"

# Kokkos' own parameters: the tiles of an MDRange, and the team size. They are timed, so that only their end is known.
"$build/bin/tune" kokkos --db internals.yaml --max-runs 20 --pairs 1 -- ./application kernels > kernels.txt
expect "transpose_tile_size_0" kernels.txt
expect "row_sums_team_size" kernels.txt
[ "$(grep -c ', decided$' kernels.txt)" -ge 2 ]
cat kernels.txt
echo "all of it passed"
