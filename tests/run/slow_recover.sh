#!/bin/sh
# SPDX-License-Identifier: MIT
# A thousand kills: slow_recover.sh [BUILD [WORDS OF A TEST'S NAME...]]
export PFT_BUILD="${1:-build}"
[ $# -eq 0 ] || shift
exec python3 -B tests/run/test_recover.py --slow "$@"
