#!/bin/sh
# faulty.sh: cupilot and cupilot-runner as the nodes of candidates.py have them, by their names. Of ten pieces of work one fails
# first, in five ways.
name=$(basename "$0")
program=$CUPILOT_FAULTY_PROGRAMS/$name
for last; do :; done
piece= result=
case "$name $1" in
"cupilot gate-task") [ "$2" = --facts ] || { piece=$last folder=$2 result=$2/$last.verdict; } ;;
"cupilot-runner --"*)
  for word; do case "$word" in --group=*) piece=${word#--group=} folder=$last ;; esac; done ;;
esac
[ -n "$piece" ] || exec "$program" "$@"
fault=$CUPILOT_FAULTY_LOG/$(basename "$folder")-$piece.failed
if [ $((piece % 10)) -eq 5 ] && mkdir "$fault" 2> /dev/null; then
  task=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
  case $((piece / 10 % 5)) in
  0) echo "time limit" > "$fault/how"; sleep 600 ;;
  1) echo "status 1" > "$fault/how"; exit 1 ;;
  2) echo "signal" > "$fault/how"; kill -9 $$ ;;
  3) echo "cancelled" > "$fault/how"; scancel "$task"; sleep 600 ;;
  4) echo "requeued" > "$fault/how"; scontrol requeue "$task"; sleep 600 ;;
  esac
fi
new=
[ -z "$result" ] || [ -e "$result" ] || new=1
"$program" "$@"
status=$?
[ -z "$new" ] || [ ! -e "$result" ] || echo "$result" >> "$CUPILOT_FAULTY_LOG/judged"
exit $status
