#!/bin/sh
# No figures of the Roofline Prophet in prompts, and no choice of strategies by them.
#   no-roofline.sh OUT SOURCE WORKLOADS --provider SPEC [OPTIONS...] -- FLAGS
exec "$(dirname "$0")/compare.py" no-roofline "$@"
