# Sourced. Runs of `tune` on the hosts a, b and c of a private sshd.

runs_over_ssh() {
  start_tuning ssh --launcher ssh --hosts a,b,c
  expect_success ssh
  say "three hosts are reached by ssh, whose shells print a greeting on stdout"
}

the_driver_is_killed_over_ssh() {
  start_tuning ssh2 --launcher ssh --hosts a,b
  within 60 has_measured ssh2 1 || fail "nothing is measured" ssh2.out
  kill -9 "$driver"
  wait "$driver" 2>/dev/null || true
  expect_nothing_runs ssh2
  say "agents that ssh has started end when their driver is killed"
}

wrong_input_to_ssh() {
  refuses 2 '--launcher ssh needs the machines' --launcher ssh
  refuses 4 'Could not resolve hostname nosuchhost' --launcher ssh --hosts a,nosuchhost
  say "hosts that do not exist are refused"
}
