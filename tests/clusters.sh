#!/bin/bash
# Tunes over several machines, as Slurm and ssh would have them: a private Slurm of three nodes and a private sshd on this
# machine, from Debian's packages, which are unpacked and not installed. Nodes fail, daemons and drivers are killed.
# Run it in a build of preset dev, check or release: tests/clusters.sh [BUILD_FOLDER]. It needs the network once, no rights,
# and about a minute on two cores; the unpacked packages are kept in BUILD_FOLDER/clusters.
set -euo pipefail
cd "$(dirname "$0")/.."
# The daemons have deadlines of their own, which a busy machine may miss: what fails is tried once more, and says so.
if [ -z "${TUNE_TRIED_AGAIN:-}" ]; then
  status=0
  TUNE_TRIED_AGAIN=no tests/clusters.sh "$@" || status=$?
  [ $status -ne 0 ] && [ $status -ne 77 ] || exit $status
  echo "FAILED ONCE, with exit code $status (see above); it is tried again"
  TUNE_TRIED_AGAIN=yes exec tests/clusters.sh "$@"
fi
tree=$PWD
build=$(realpath "${1:-build/dev}")
for part in rig packages slurm sshd checks slurm_runs ssh_runs; do . "tests/clusters/$part.sh"; done
export PATH=$build/bin:$PATH
begin_rig
unpack_packages "$build/clusters" slurmctld slurmd slurm-client munge openssh-server ||
  skip "the packages of Slurm and OpenSSH cannot be had here"
write_kernel
run_without_a_cluster
skipped=()

if start_slurm "$work/slurm" "$build/clusters/root"; then
  wrong_input_to_slurm
  two_jobs_at_once
  the_script_of_the_manual
  a_job_is_cancelled
  a_run_within_a_step
  a_node_is_set_down
  a_slurmd_is_killed
  a_slurmstepd_is_killed
  the_driver_is_killed
else
  skipped+=("Slurm does not start here: $(last_words munge slurmctld n1)")
fi

if start_sshd "$work/ssh" "$build/clusters/root"; then
  wrong_input_to_ssh
  runs_over_ssh
  the_driver_is_killed_over_ssh
else
  skipped+=("sshd does not start here: $(last_words sshd)")
fi

[ ${#skipped[@]} -eq 0 ] || skip "${skipped[@]}"
say "all of it passed"
