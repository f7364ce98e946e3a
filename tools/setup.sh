# shellcheck shell=bash
# tools/setup.sh: functions of tools/test and tools/quickstart: installing packages, configuring,
# building, and progress messages. Sourced, not run.
#
# Requires bash, and the checkout's root as $STELE_ROOT. Defines stele_say, stele_fail,
# stele_install_packages, stele_require_space, stele_configure, stele_build and $STELE_JOBS.

STELE_STARTED=$SECONDS

stele_say() { printf '==> [%d:%02d] %s\n' $(((SECONDS - STELE_STARTED) / 60)) $(((SECONDS - STELE_STARTED) % 60)) "$*"; }

stele_fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Fails for a reason outside of the project: packages cannot be installed. Exits with 75, sysexits.h's
# EX_TEMPFAIL, so that a scheduler can tell it from a failed test.
stele_fail_outside() {
  printf 'error: infrastructure: %s\n' "$*" >&2
  exit 75
}

# stele_require_space GIB: fails if the checkout's disk has less free space.
stele_require_space() {
  local free_kib
  free_kib=$(df -Pk "$STELE_ROOT" | awk 'NR == 2 {print $4}')
  if [ "$free_kib" -lt $(($1 * 1024 * 1024)) ]; then
    stele_fail "$STELE_ROOT has $((free_kib / 1024)) MiB of free disk space, and building and testing needs $1 GiB: free some and run it again"
  fi
}

# Prints the number of parallel compilers: one per core, but at most one per 1.5 GiB of free memory.
stele_job_count() {
  local cores memory_kib by_memory
  cores=$(nproc 2>/dev/null || echo 2)
  memory_kib=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo 2>/dev/null || true)
  by_memory=$((${memory_kib:-4194304} / 1572864))
  if [ "$by_memory" -lt 1 ]; then by_memory=1; fi
  if [ "$cores" -lt "$by_memory" ]; then echo "$cores"; else echo "$by_memory"; fi
}
STELE_JOBS=${STELE_JOBS:-$(stele_job_count)}

# The compiler cache needs a writable directory. Without a home directory it is inside build/.
if ! mkdir -p "${CCACHE_DIR:-${HOME:-/nonexistent}/.cache/ccache}" 2>/dev/null; then export CCACHE_DIR="$STELE_ROOT/build/ccache"; fi

# Prints the packages of tools/packages.txt that are not installed, one per line.
stele_missing_packages() {
  local package mark
  while read -r package mark; do
    case $package in '' | '#'*) continue ;; esac
    if [ -n "${1:-}" ] && [ "$mark" != "$1" ]; then continue; fi
    if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)" != installed ]; then echo "$package"; fi
  done <"$STELE_ROOT/tools/packages.txt"
}

# stele_install_packages [MARK]: installs what stele_missing_packages prints.
stele_install_packages() {
  local missing as_root=()
  if ! command -v dpkg-query >/dev/null; then
    stele_say "not a Debian system: install the packages of tools/packages.txt yourself"
    return
  fi
  mapfile -t missing < <(stele_missing_packages "${1:-}")
  if [ "${#missing[@]}" -eq 0 ]; then
    stele_say "packages: all installed"
    return
  fi
  stele_say "packages: installing ${missing[*]}"
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || stele_fail "these packages are missing; run as root: apt-get install ${missing[*]}"
    as_root=(sudo -n)
    sudo -n true 2>/dev/null || as_root=(sudo)
  fi
  # A mirror may be slow or refuse a connection, and another program may hold the package lock.
  local options=(-q -o Acquire::Retries=5 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o DPkg::Lock::Timeout=120)
  local try
  for try in 1 2 3; do
    if "${as_root[@]}" apt-get update "${options[@]}" </dev/null &&
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install "${options[@]}" -y --no-install-recommends "${missing[@]}" </dev/null; then
      return
    fi
    stele_say "packages: apt-get failed, try $try of 3"
    if [ "$try" -lt 3 ]; then sleep "${STELE_APT_PAUSE:-20}"; fi
  done
  stele_fail_outside "apt-get could not install: ${missing[*]}"
}

# stele_configure PRESET
# Continuous integration builds from nothing, so it sets STELE_FRESH_BUILD (CMakeLists.txt).
stele_configure() {
  local preset=$1
  shift
  stele_say "$preset: configuring"
  if [ ! -e "$STELE_ROOT/build/$preset/build.ninja" ]; then set -- -DSTELE_FRESH_BUILD=ON "$@"; fi
  (cd "$STELE_ROOT" && cmake --preset "$preset" "$@" </dev/null)
}

# stele_build PRESET [targets...]: the default targets are those of the build preset.
stele_build() {
  local preset=$1
  shift
  stele_say "$preset: building with $STELE_JOBS jobs"
  (cd "$STELE_ROOT" && cmake --build --preset "$preset" --parallel "$STELE_JOBS" ${1:+--target "$@"} </dev/null)
}
