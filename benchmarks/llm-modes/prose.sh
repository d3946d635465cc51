#!/bin/sh
# Strategies as sentences without parameters, and no check of which ones the code has.
#   prose.sh OUT SOURCE WORKLOADS --provider SPEC [OPTIONS...] -- FLAGS
exec "$(dirname "$0")/compare.py" prose "$@"
