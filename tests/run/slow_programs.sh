#!/bin/sh
# SPDX-License-Identifier: MIT
# What programs.sh tests, a million times over: slow_programs.sh [BUILD [WORDS OF A TEST'S NAME...]]
export PFT_BUILD="${1:-build}"
[ $# -eq 0 ] || shift
exec python3 -B tests/run/run.py --slow "$@"
