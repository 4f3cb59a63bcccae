#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs that are killed, and what is recovered of them: recover.sh [BUILD [WORDS OF A TEST'S NAME...]]
export PFT_BUILD="${1:-build}"
[ $# -eq 0 ] || shift
exec python3 -B tests/run/test_recover.py "$@"
