#!/bin/sh
# Builds an application with pkg-config: build.sh static|shared PREFIX OUTPUT. CXX names the
# compiler.
set -eu
linkage=$1
prefix=$2
output=$3
here=$(cd "$(dirname "$0")" && pwd)
for folder in "$prefix"/lib/pkgconfig "$prefix"/lib/*/pkgconfig "$prefix"/lib64/pkgconfig; do
  if [ -f "$folder/stele.pc" ]; then
    PKG_CONFIG_PATH=$folder
    export PKG_CONFIG_PATH
  fi
done
package=stele${STELE_COMPONENT:+-$STELE_COMPONENT}
case $linkage in
  static)
    # Makes the linker take libstele.a instead of libstele.so. Its dependencies stay shared, as in
    # the distribution.
    libs=$(pkg-config --static --libs $package | sed 's/-lstele_remote/-l:libstele_remote.a/g; s/-lstele /-l:libstele.a /g')
    rpath=
    ;;
  *)
    libs=$(pkg-config --libs $package)
    rpath=-Wl,-rpath,$(pkg-config --variable=libdir stele)
    ;;
esac
# Unquoted: each holds several arguments.
# shellcheck disable=SC2046,SC2086
${CXX:-c++} -std=c++20 $(pkg-config --cflags stele) -o "$output" "${STELE_MAIN:-$here/../main.cc}" $libs $rpath
