#!/bin/sh
# Compiles a file with each public header alone for C++17: old_standard.sh CXX INCLUDE_DIRECTORY.
# The first error must say that Stele needs C++20.
set -eu
cxx=$1
include=$2
failed=0
count=0
cd "$include"
for header in stele/*.h stele/lab/*.h; do
  count=$((count + 1))
  errors=$(printf '#include <%s>\n' "$header" |
    "$cxx" -std=c++17 -fsyntax-only -Wfatal-errors -w -I. -x c++ - 2>&1 | grep 'error' | head -n 1) || true
  case $errors in
    *'error: '*'Stele needs C++20'*) ;;
    *)
      echo "$header: the first error does not name C++20: $errors" >&2
      failed=1
      ;;
  esac
done
echo "$count headers"
exit "$failed"
