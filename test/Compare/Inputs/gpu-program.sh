#!/bin/sh
# A program on a GPU whose kernel has a variant: it says so as a built one does, and launches kernels of a driver that needs
# no GPU. usage: gpu-program.sh FAKE-APP MODULE STATS
case $CUPILOT_RUNTIME in
off) "$1" "$2" add:30 shapes:2 > /dev/null ;;
stats) cat "$3" >> "$CUPILOT_STATS_FILE" && "$1" "$2" view add:10 shapes:2 > /dev/null ;;
*) "$1" "$2" view add:10 shapes:2 > /dev/null ;;
esac && echo done
