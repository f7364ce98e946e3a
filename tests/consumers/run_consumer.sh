#!/bin/sh
# Builds one consumer and runs it: run_consumer.sh find_package|pkg_config|fetch_content|examples
# static|shared. ctest sets these variables:
#   CMAKE CXX STELE_SOURCE STELE_PREFIX (the installed tree) STELE_WORK (this test's directory)
#   STELE_TYPE (build type), STELE_NIGHTLY (ON: fetch_content builds everything), STELE_MAIN (a program instead of main.cc), STELE_COMPONENT
#   (remote or lab, if the program also links it)
# The program runs in an empty directory.
set -eu
kind=$1
linkage=$2
here=$(cd "$(dirname "$0")" && pwd)
build=$STELE_WORK/build
mkdir -p "$STELE_WORK"

case $kind in
  find_package)
    rm -rf "$build"
    "$CMAKE" -G Ninja -S "$here/find_package" -B "$build" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_BUILD_TYPE="$STELE_TYPE" \
      -DCMAKE_PREFIX_PATH="$STELE_PREFIX" -DSTELE_LINKAGE="$linkage" \
      ${STELE_MAIN:+-DCONSUMER_MAIN="$STELE_MAIN"} \
      ${STELE_COMPONENT:+-DCONSUMER_COMPONENT="$STELE_COMPONENT"}
    "$CMAKE" --build "$build" --parallel 1
    program=$build/consumer
    ;;
  pkg_config)
    rm -rf "$build"
    mkdir -p "$build"
    program=$build/consumer
    CXX=$CXX "$here/pkg_config/build.sh" "$linkage" "$STELE_PREFIX" "$program"
    ;;
  fetch_content)
    # static and shared share the directory, because the objects are the same. Not optimized,
    # because only the build is tested.
    shared=OFF
    if [ "$linkage" = shared ]; then shared=ON; fi
    "$CMAKE" -G Ninja -S "$here/fetch_content" -B "$build" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 \
      -DSTELE_FRESH_BUILD="${STELE_FRESH_BUILD:-OFF}" -DSTELE_SOURCE_DIR="$STELE_SOURCE" -DBUILD_SHARED_LIBS=$shared ${STELE_LAUNCHER:+-DCMAKE_CXX_COMPILER_LAUNCHER="$STELE_LAUNCHER"}
    if [ "${STELE_NIGHTLY:-OFF}" != ON ]; then
      # Building Stele once more takes a minute of every run. The project is generated, and the
      # consumer's file compiles with the targets' include paths.
      "$CMAKE" --build "$build" --parallel 1 --target consumer_object
      exit 0
    fi
    "$CMAKE" --build "$build" --parallel 1
    program=$build/consumer
    ;;
  examples)
    rm -rf "$build"
    "$CMAKE" -G Ninja -S "$STELE_SOURCE/examples" -B "$build" -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_BUILD_TYPE="$STELE_TYPE" \
      -DCMAKE_PREFIX_PATH="$STELE_PREFIX"
    "$CMAKE" --build "$build" --parallel 1
    program=$build/hello
    ;;
  *)
    echo "unknown consumer '$kind'" >&2
    exit 2
    ;;
esac

# Check that the program is linked as requested.
if ldd "$program" | grep -q 'libstele\.so'; then linked=shared; else linked=static; fi
if [ "$linked" != "$linkage" ]; then
  echo "asked for $linkage, linked $linked" >&2
  exit 1
fi
rm -rf "$STELE_WORK/run"
mkdir "$STELE_WORK/run"
cd "$STELE_WORK/run"
"$program"
