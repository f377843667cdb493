# Sourced. A Slurm of its own: one slurmctld and the nodes n1, n2 and n3 on this machine, each with two cores and two GPUs
# that are device files without a device. All that it writes is in the folder; it needs no rights and no cgroups.

# start_slurm FOLDER ROOT: the programs are in ROOT. Sets the environment for sbatch and the others. Fails if the nodes are
# not ready within 60 s.
start_slurm() {
  slurm=$1
  local root=$2 node libraries=$2/usr/lib/x86_64-linux-gnu
  mkdir -p "$slurm"/{munge,state,spool,logs,gpus,nodes/n1,nodes/n2,nodes/n3}
  chmod 700 "$slurm/munge"
  # Slurm looks at the names of its programs, which in Debian have endings.
  for node in slurmctld slurmd; do ln -sf "$node-wlm" "$root/usr/sbin/$node"; done
  slurm_programs=$root/usr/sbin
  export LD_LIBRARY_PATH=$libraries:$libraries/slurm-wlm SLURM_CONF=$slurm/slurm.conf PATH=$root/usr/bin:$PATH
  configure_slurm "$libraries/slurm-wlm" $(free_ports 4)
  start_munge || return
  daemon slurmctld "$slurm_programs/slurmctld" -D -i
  for node in n1 n2 n3; do start_node "$node"; done
  within 60 nodes_are_idle_or_ended && nodes_are_idle
}

start_munge() {
  (umask 077 && head -c 128 /dev/urandom >"$slurm/munge/key")
  daemon munge "$slurm_programs/munged" --foreground --force --key-file="$slurm/munge/key" --socket="$slurm/munge/socket" \
    --pid-file="$slurm/munge/pid" --log-file="$slurm/munge/log" --seed-file="$slurm/munge/seed"
  within 60 test -S "$slurm/munge/socket"
}

# A batch script runs on n1; the others need none of its files.
start_node() {
  local mounts=
  [ "$1" = n1 ] || mounts=$hide_driver
  daemon "$1" "$slurm_programs/slurmd" -D -N "$1" -d "$slurm_programs/slurmstepd-wlm"
}

nodes_are_idle_or_ended() { ! runs slurmctld || ! runs n1 || nodes_are_idle; }

nodes_are_idle() { [ "$(sinfo -h -o '%T %D' 2>/dev/null)" = "idle 3" ]; }

# Each node has its own temporary folder, store and locks, as if it were a machine of its own.
configure_slurm() {  # PLUGINS PORT...
  local host=$(uname -n) me=$(id -un) plugins=$1 index
  shift
  for index in 0 1; do mknod "$slurm/gpus/gpu$index" c 1 3 2>/dev/null || touch "$slurm/gpus/gpu$index"; done
  echo "Name=gpu File=$slurm/gpus/gpu[0-1]" >"$slurm/gres.conf"
  cat >"$slurm/prolog" <<END
#!/bin/sh
echo "export TMPDIR=$slurm/nodes/\$SLURMD_NODENAME"
echo "export TUNE_LOCKS=$slurm/nodes/\$SLURMD_NODENAME"
echo "export XDG_CACHE_HOME=$slurm/nodes/\$SLURMD_NODENAME/cache"
END
  chmod +x "$slurm/prolog"
  cat >"$slurm/slurm.conf" <<END
ClusterName=tune
SlurmctldHost=${host%%.*}(127.0.0.1)
SlurmctldPort=$1
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
AuthInfo=socket=$slurm/munge/socket
CredType=cred/munge
PluginDir=$plugins
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool/%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/%n.pid
TaskProlog=$slurm/prolog
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
MailProg=/bin/true
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,bf_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=4
MessageTimeout=5
KillWait=20
GresTypes=gpu
NodeName=n1 NodeHostname=${host%%.*} NodeAddr=127.0.0.1 Port=$2 CPUs=2 RealMemory=1000 Gres=gpu:2
NodeName=n2 NodeHostname=${host%%.*} NodeAddr=127.0.0.1 Port=$3 CPUs=2 RealMemory=1000 Gres=gpu:2
NodeName=n3 NodeHostname=${host%%.*} NodeAddr=127.0.0.1 Port=$4 CPUs=2 RealMemory=1000 Gres=gpu:2
PartitionName=all Nodes=n[1-3] Default=YES State=UP OverSubscribe=FORCE:4
END
}
