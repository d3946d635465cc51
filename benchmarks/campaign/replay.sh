#!/usr/bin/env bash
# replay.sh - one search of the campaign again, from its recording
#
# Part of cuPilot, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: replay.sh ID [OUT]
#
# ID is a search of campaign.json ("36", "01-norm"). Its recording and the store
# that it left are unpacked from the archive into a temporary folder, after the
# digests of campaign.json were compared, and search.sh runs with the recorded
# answers: no model and no GPU is asked. Prompts may differ from those that were
# answered, as cuPilot has changed since; the differences are shown. OUT gets
# the workloads and the store (default: a temporary folder, deleted at the end).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 1 ] && [ $# -le 2 ] || { sed -n 's/^# usage: /usage: /p' "${BASH_SOURCE[0]}" >&2; exit 2; }
id=$1
unpacked=$(mktemp -d)
trap 'rm -rf "$unpacked"' EXIT
python3 "$here/unpack.py" "$unpacked" "$id" "${id%-norm}"
CAMPAIGN_LIKE=$unpacked/store/${id%-norm} "$here/search.sh" "$id" "${2:-$unpacked/out}" \
  --provider "replay:$unpacked/calls/$id,changed=use" --device "spool:$unpacked/spool"
echo "recorded:"
python3 "$here/unpack.py" --kept "$id"
