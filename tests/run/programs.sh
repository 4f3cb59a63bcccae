#!/bin/sh
# SPDX-License-Identifier: MIT
# The programs of tests/programs, with and without the shim: programs.sh [BUILD [WORDS OF A TEST'S NAME...]]
export PFT_BUILD="${1:-build}"
[ $# -eq 0 ] || shift
exec python3 -B tests/run/run.py "$@"
