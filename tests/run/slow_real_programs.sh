#!/bin/sh
# SPDX-License-Identifier: MIT
# More and larger programs that nobody wrote for this: slow_real_programs.sh [BUILD [WORDS OF A TEST'S NAME...]]
export PFT_BUILD="${1:-build}"
[ $# -eq 0 ] || shift
exec python3 -B tests/run/run.py --real --slow "$@"
