#!/bin/sh
# SPDX-License-Identifier: MIT
# Generated function signatures, through hooks and past them: signatures.sh [BUILD [WORDS OF A TEST'S NAME...]]
export PFT_BUILD="${1:-build}"
[ $# -eq 0 ] || shift
exec python3 -B tests/run/run.py --signatures "$@"
