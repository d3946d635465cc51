#!/bin/sh
# Nothing of similar kernels, which --like names: neither genomes nor code.
#   no-retrieval.sh OUT SOURCE WORKLOADS --provider SPEC [OPTIONS...] -- FLAGS
exec "$(dirname "$0")/compare.py" no-retrieval "$@"
