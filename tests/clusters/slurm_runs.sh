# Sourced. Runs of `tune` in a Slurm of three nodes.

# An allocation of three nodes, as a shell of salloc has it.
allocate() {
  export SLURM_JOB_ID
  SLURM_JOB_ID=$(salloc --nodes=3 --no-kill --no-shell 2>&1 | sed -n 's/.*Granted job allocation //p')
}

release() {  # NAME
  scancel "$SLURM_JOB_ID"
  unset SLURM_JOB_ID
  within 60 nodes_are_idle || fail "$1: the nodes are not idle again: $(sinfo --noheader)"
}

has_no_step() { [ -z "$(squeue --noheader --steps --jobs="$SLURM_JOB_ID" | grep -v extern)" ]; }

expect_no_step() {  # NAME
  within 60 has_no_step || fail "$1: its step is still there: $(squeue --noheader --steps)"
}

# Starts a run and returns when it has some results. Its driver is stopped then, so that it cannot end before what follows.
start_in_slurm() {  # NAME
  start_tuning "$1" --launcher slurm
  within 60 has_measured "$1" 3 || fail "$1: nothing is measured" "$1.out"
  kill -STOP "$driver"
}

submit() {  # NAME: prints the number of the job
  cat >"$1.sh" <<END
#!/bin/bash
#SBATCH --nodes=3 --ntasks-per-node=1 --gres=gpu:1 --no-kill --output=$1.out
exec tune --launcher slurm --yaml gemm.yaml --tune --output $1
END
  sbatch --parsable "$1.sh"
}

job_has_ended() { [ -z "$(squeue --noheader --jobs="$1" 2>/dev/null)" ]; }

two_jobs_at_once() {
  local first second
  first=$(submit first)
  second=$(submit second)
  within 120 job_has_ended "$first" || fail "the first job does not end" first.out
  within 120 job_has_ended "$second" || fail "the second job does not end" second.out
  expect_complete first
  expect_complete second
  say "two batch jobs at once on the same three nodes find the same winner as a run without nodes"
}

# The batch script of the manual, but for a machine without GPUs, whose nodes other jobs use too.
the_script_of_the_manual() {
  sed -n '/^#!\/bin\/bash$/,/^```$/p' "$tree/docs/clusters.md" | sed '$d; s/ --exclusive//; s/ --devices all//' >tune.sh
  expect 'tune --launcher slurm --yaml gemm.yaml --tune --top 3 --output best$' tune.sh
  local job
  job=$(sbatch --parsable tune.sh)
  within 120 job_has_ended "$job" || fail "the job of the manual does not end" tune.log
  mv tune.log best.out
  expect_complete best
  say "the batch script of the manual finds the same winner as a run without nodes"
}

a_job_is_cancelled() {
  local job
  job=$(submit cancelled)
  within 60 has_measured cancelled 3 || fail "nothing is measured" cancelled.out
  scancel "$job"
  within 60 job_has_ended "$job" || fail "a cancelled job does not end"
  expect_nothing_runs cancelled
  expect '^top_spec_idx: [0-9]' cancelled.out
  expect '^tune: interrupted; the same command continues from here' cancelled.out
  say "a job that is cancelled prints the best so far, and leaves nothing running"
}

# Of the steps of tune.
nothing_runs_on() {  # NODE
  ! grep -qzx "SLURMD_NODENAME=$1" $(of_this_test 'tune.*' | sed 's|.*|/proc/&/environ|') /dev/null 2>/dev/null
}

a_node_is_set_down() {
  allocate
  start_in_slurm down
  scontrol update nodename=n2 state=down reason=test
  within 60 nothing_runs_on n2 || fail "the agent on a node that is down goes on"
  kill -CONT "$driver"
  expect_success down
  expect 'lost agent n2 ' down.out
  expect_no_step down
  release down
  say "a node that is set down costs only the specs in flight there"
}

a_slurmd_is_killed() {
  allocate
  start_in_slurm slurmd
  end_daemon n3
  kill -CONT "$driver"
  expect_success slurmd
  start_node n3
  expect_no_step slurmd
  release slurmd
  say "a slurmd that is killed costs nothing"
}

# As in a shell of srun --pty.
a_run_within_a_step() {
  allocate
  srun --nodelist=n1 --ntasks=1 tune --yaml gemm.yaml --tune --output within --launcher slurm >within.out 2>&1 </dev/null &
  driver=$!
  expect_success within
  expect '^3 agents: n1 ' within.out
  expect_no_step within
  release within
  say "a run within a step on one node uses all nodes of the job"
}

# srun then waits for ever. The step is Slurm's to remove.
a_slurmstepd_is_killed() {
  local agent
  allocate
  start_in_slurm slurmstepd
  agent=$(of_this_test tune | grep -vx "$driver" | head -n 1)
  kill -9 $(ps -o ppid= -p "$agent")
  kill -CONT "$driver"
  expect_success slurmstepd
  release slurmstepd
  say "a slurmstepd that is killed, so that srun hangs, costs nothing"
}

the_driver_is_killed() {
  local known
  allocate
  start_in_slurm killed
  kill -9 "$driver"
  wait "$driver" 2>/dev/null || true
  expect_nothing_runs killed
  known=$(measured killed | wc -l)
  start_tuning killed --launcher slurm
  expect_success killed
  expect "^note: $known of 18 specs are from the journal" killed.out
  expect_no_step killed
  release killed
  say "a driver that is killed leaves nothing running, and the same command goes on from there: $known of 18 were known"
}

# refuses EXIT-CODE TEXT WORD...: a run ends at once with this code and this text, and nothing is left of it.
refuses() {
  local code=$1 text=$2 status=0
  shift 2
  rm -f refused.*
  tune --yaml gemm.yaml --tune --output refused "$@" >refused.out 2>&1 </dev/null || status=$?
  [ "$status" = "$code" ] || fail "$*: exit code $status instead of $code" refused.out
  expect "$text" refused.out
  [ -z "$(measured refused)" ] || fail "$*: something was measured" refused.out
  expect_nothing_runs "$*"
}

wrong_input_to_slurm() {
  refuses 2 '--launcher slurm: this is no allocation of Slurm' --launcher slurm
  SLURM_JOB_ID=999 refuses 4 'Slurm does not know job 999 as a running one' --launcher slurm
  refuses 4 'invalid partition specified: nope' --launcher 'srun --partition=nope --nodes=2 {agent}' --agents 2
  [ -z "$(squeue --noheader)" ] || fail "a job is left: $(squeue --noheader)"
  # On n3 only, tune lies in a folder without its workers.
  mkdir "$work/alone" && cp "$build/bin/tune" "$work/alone"
  refuses 4 "^tune: error: n3 .*tune-worker-cpu: not found in $work/alone" --agents 3 --launcher \
    "srun --nodes=3 sh -c '[ \$SLURMD_NODENAME != n3 ] || { shift; set $work/alone/tune \"\$@\"; }; exec \"\$@\"' sh {agent}"
  say "no allocation, an allocation that has ended, a partition that does not exist and a node without workers are refused"
}
