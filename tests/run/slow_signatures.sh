#!/bin/sh
# SPDX-License-Identifier: MIT
# More signatures than signatures.sh has: slow_signatures.sh [BUILD [WORDS OF A TEST'S NAME...]]
export PFT_BUILD="${1:-build}"
[ $# -eq 0 ] || shift
exec python3 -B tests/run/run.py --signatures --slow "$@"
