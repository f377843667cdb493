# Sourced. An sshd of its own on 127.0.0.1, with keys and configuration in a folder, and a command `ssh` on
# PATH that reaches it under the names a, b and c.

# start_sshd FOLDER ROOT: the programs are in ROOT.
start_sshd() {
  local folder=$1 root=$2 port
  port=$(free_ports 1)
  mkdir -p "$folder/bin" && chmod 700 "$folder"
  ssh-keygen -q -t ed25519 -N '' -f "$folder/host" && ssh-keygen -q -t ed25519 -N '' -f "$folder/user"
  echo "[127.0.0.1]:$port $(cut -d' ' -f1,2 "$folder/host.pub")" >"$folder/known_hosts"
  # As where a user's .bashrc prints something.
  echo "command=\"echo Welcome; exec sh -c \\\"\$SSH_ORIGINAL_COMMAND\\\"\" $(cat "$folder/user.pub")" >"$folder/authorized_keys"
  cat >"$folder/sshd_config" <<END
ListenAddress 127.0.0.1:$port
HostKey $folder/host
PidFile $folder/pid
AuthorizedKeysFile $folder/authorized_keys
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
SetEnv TUNE_RIG=$work XDG_CACHE_HOME=$folder/cache TUNE_LOCKS=$folder
END
  cat >"$folder/ssh_config" <<END
Host a b c
  HostName 127.0.0.1
  Port $port
Host *
  IdentityFile $folder/user
  IdentitiesOnly yes
  UserKnownHostsFile $folder/known_hosts
END
  printf '#!/bin/sh\nexec %s -F %s "$@"\n' "$(command -v ssh)" "$folder/ssh_config" >"$folder/bin/ssh"
  chmod +x "$folder/bin/ssh"
  # As root, sshd wants a user named sshd and a folder /run/sshd.
  { cat /etc/passwd; grep -q ^sshd: /etc/passwd || echo 'sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin'; } >"$folder/passwd"
  mounts="mount -t tmpfs tmpfs /run && mkdir /run/sshd && mount --bind $folder/passwd /etc/passwd && $hide_driver" \
    LD_LIBRARY_PATH=$root/usr/lib/x86_64-linux-gnu daemon sshd "$root/usr/sbin/sshd" -D -e -f "$folder/sshd_config"
  PATH=$folder/bin:$PATH
  within 60 sshd_answers_or_ended && runs sshd
}

sshd_answers_or_ended() { ! runs sshd || ssh -o BatchMode=yes a true &>/dev/null; }
