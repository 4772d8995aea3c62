#!/usr/bin/env bash
# The pool as a plain program, then the laws of the kernels in Python, under the sanitizers of gcc.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${PYTHON:-.venv/bin/python}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags=(-std=c++20 -O1 -g -pthread)

echo "The pool under ThreadSanitizer, then under AddressSanitizer and UndefinedBehaviorSanitizer …"
g++ "${flags[@]}" -fsanitize=thread tests/native/pool_test.cpp src/native/core.cpp -o "$work/threads"
"$work/threads" without-forks # which the sanitizer does not follow
g++ "${flags[@]}" -fsanitize=address,undefined tests/native/pool_test.cpp src/native/core.cpp -o "$work/memory"
"$work/memory"

echo "The laws of the kernels under AddressSanitizer and UndefinedBehaviorSanitizer …"
nanobind=$("$python" -c 'import os, nanobind; print(os.path.dirname(nanobind.__file__))')
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
suffix=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
cp -r src/tractable "$work/tractable"
rm -f "$work"/tractable/_core/*.so
gcc -shared -fPIC -I"$include" src/native/processor.c -o "$work/tractable/_core/processor$suffix"
g++ "${flags[@]}" -fPIC -shared -fno-omit-frame-pointer -fno-strict-aliasing -fvisibility=hidden \
  -fsanitize=address,undefined -DMODULE=v1 -I"$nanobind/include" -I"$nanobind/ext/robin_map/include" -I"$include" \
  src/native/*.cpp "$nanobind/src/nb_combined.cpp" -o "$work/tractable/_core/v1$suffix"
# Beside the sanitizer, libstdc++: else the first exception of C++ ends the process.
LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libstdc++.so)" \
  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 PYTHONPATH="$work" TRACTABLE_LEVEL=1 \
  "$python" -m pytest -q -p no:cacheprovider tests/oracles/test_nearest_centers.py tests/oracles/test_sparse_rows.py \
  tests/oracles/test_distance_sums.py tests/oracles/test_kernel_sums.py tests/oracles/test_tree_sums.py \
  tests/oracles/test_tail_sums.py tests/oracles/test_local_windows.py
