# Sourced. What the tests of clusters share: a folder and daemons that end with the test, and waiting.

# Makes the folder $work. It is removed (unless KEEP_RIG is set), and what was started is ended, when the test ends.
begin_rig() {
  work=$(mktemp -d "${TMPDIR:-/tmp}/tune-clusters.XXXXXX")
  declare -gA daemons=()
  trap end_rig EXIT
  trap 'exit 130' INT TERM HUP
  export TUNE_RIG=$work  # what carries it belongs to this test
  unset "${!OMP_@}" "${!GOMP_@}" "${!KMP_@}" "${!MKL_@}" "${!OPENBLAS_@}"  # a shell by ssh lacks them: another device
  mkdir "$work/driver"
  hide_driver="mount -t tmpfs tmpfs $work/driver"  # so that other machines lack the files of the driver's
}

end_rig() {
  local status=$?
  set +e
  kill -9 "${daemons[@]}" $(of_this_test all) 2>/dev/null
  wait 2>/dev/null
  [ "$status" -eq 0 ] || [ "$status" -eq 77 ] || echo "FAILED (see above)"
  [ -n "${KEEP_RIG:-}" ] || rm -rf "$work"
}

# of_this_test NAMES: process ids of this user whose program's name matches (all: every one), but for this shell.
of_this_test() {
  local process name
  for process in $(grep -lzx "TUNE_RIG=$work" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); do
    { read -r name <"/proc/$process/comm"; } 2>/dev/null || continue
    [ "$process" != $$ ] || continue
    if [ "$1" = all ] || [[ $name =~ ^($1)$ ]]; then echo "$process"; fi
  done
}

# daemon NAME COMMAND...: runs it in the background; its output is $work/NAME.log. With root's rights, the commands of $mounts
# are run before it, and change the file system for it alone.
daemon() {
  local name=$1 before=()
  shift
  if [ -n "${mounts:-}" ] && unshare --mount true 2>/dev/null; then
    before=(unshare --mount --propagation private sh -c "$mounts"' && exec "$@"' sh)
  fi
  setpriv --pdeathsig KILL "${before[@]}" "$@" >"$work/$name.log" 2>&1 &
  daemons[$name]=$!
}

runs() { kill -0 "${daemons[$1]}" 2>/dev/null; }  # NAME

# The last line of those of these daemons that have ended.
last_words() {  # NAME...
  local name
  for name; do runs "$name" || tail -n 1 "$work/$name.log"; done
}

end_daemon() {  # NAME
  kill -9 "${daemons[$1]}"
  wait "${daemons[$1]}" 2>/dev/null || true
}

free_ports() {  # HOW-MANY
  python3 -c 'import socket, sys
sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(int(sys.argv[1]))]
print(*[each.getsockname()[1] for each in sockets])' "$1"
}

within() {  # SECONDS COMMAND...
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.05
  done
}

skip() {  # WHY...
  printf 'SKIPPED: %s\n' "$@"
  exit 77
}
