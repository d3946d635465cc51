#!/bin/sh
# Models merge the code of two parents, instead of turning crossed strategies into code.
#   code-crossover.sh OUT SOURCE WORKLOADS --provider SPEC [OPTIONS...] -- FLAGS
exec "$(dirname "$0")/compare.py" code-crossover "$@"
