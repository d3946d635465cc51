#!/bin/sh
# A cupilot-runner as nodes have it: CUPILOT_TEST_RUNNER, with what a test wants
# of a node. Of each batch the tasks of some groups end badly the first time.
case "$SLURMD_NODENAME $1" in
"$CUPILOT_TEST_OLD_NODE --version") echo "cupilot-runner 0.0.1"; exit 0 ;;
esac
[ "$SLURMD_NODENAME" != "$CUPILOT_TEST_OTHER_CARD" ] || export FAKE_CUDA_NAME="Other GPU"
if [ -n "$CUPILOT_TEST_FAULTS" ]; then
  for last; do :; done
  for word; do case "$word" in --group=*) group=${word#--group=} ;; esac; done
  first=$last/lock.first-$group
  if [ -n "$group" ] && [ ! -e "$first" ]; then
    : > "$first"
    case $((group % 4)) in
    0) echo "a driver that does not load"; exit 3 ;;
    1) kill -9 $$ ;;
    2) scancel "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"; sleep 60 ;;
    esac
  fi
fi
exec "$CUPILOT_TEST_RUNNER" "$@"
