# Sourced by run, test and tools/lint: short messages, quiet commands, one way to build a preset.
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}

say() { printf '%s\n' "$*" >&2; }

# quietly LOG COMMAND...: the output goes to LOG; when the command fails, LOG's end is shown.
quietly() {
  local log=$1 status=0
  shift
  "$@" >"$log" 2>&1 || status=$?
  if ((status != 0)); then
    tail -n 60 "$log" >&2
    say "failed: $* (all of its output: $log)"
  fi
  return "$status"
}

# On a terminal, the last "[12/80]" of a build's log once a second.
follow_build() {
  while sleep 1; do
    printf '\r  %s ' "$(grep -o '^\[[0-9]*/[0-9]*\]' "$1" 2>/dev/null | tail -n 1)" >&2
  done
}

# is_set PRESET CACHE_ENTRY...: whether the build folder is there with these settings.
is_set() {
  local cache=$root/build/$1/CMakeCache.txt entry
  shift
  [[ -f $cache && -f ${cache%/*}/build.ninja ]] || return 1
  for entry in "$@"; do
    grep -qxF -- "${entry%%=*}:BOOL=${entry#*=}" "$cache" || return 1
  done
}

# configure_preset PRESET SETTING...: runs cmake only when a setting differs; ninja does the rest.
configure_preset() {
  local preset=$1
  shift
  is_set "$preset" "$@" && return 0
  mkdir -p "$root/build/$preset"
  (cd "$root" && quietly "build/$preset/configure.log" cmake --preset "$preset" "${@/#/-D}")
}

# build_preset PRESET TARGET...: quick and silent when nothing changed.
build_preset() {
  local folder=$root/build/$1 preset=$1 follower="" status=0
  shift
  if ninja -C "$folder" -n "$@" 2>/dev/null | grep -q "no work to do"; then return 0; fi
  say "building $preset ..."
  if [[ -t 2 ]]; then
    : >"$folder/build.log"
    follow_build "$folder/build.log" &
    follower=$!
  fi
  quietly "$folder/build.log" cmake --build "$folder" --parallel "$jobs" --target "$@" || status=$?
  if [[ -n $follower ]]; then
    kill "$follower"
    wait "$follower" 2>/dev/null || true
    printf '\r              \r' >&2
  fi
  return "$status"
}
