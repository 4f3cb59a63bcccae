#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that are recorded for long, under load: slow_soak.sh [BUILD [SECONDS [WORDS OF A TEST'S NAME...]]]
# Ten minutes unless said otherwise.
export PFT_BUILD="${1:-build}"
export SOAK_SECONDS="${2:-600}"
[ $# -lt 2 ] || shift
[ $# -eq 0 ] || shift
exec python3 -B tests/run/test_soak.py "$@"
