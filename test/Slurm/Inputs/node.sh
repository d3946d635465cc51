#!/bin/sh
# A cupilot as nodes have it: CUPILOT_TEST_CUPILOT. On the nodes of
# CUPILOT_TEST_OTHER_MATH, glibc takes its functions for older processors.
case " $CUPILOT_TEST_OTHER_MATH " in
*" $SLURMD_NODENAME "*) export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4 ;;
esac
exec "$CUPILOT_TEST_CUPILOT" "$@"
