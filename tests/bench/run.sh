#!/bin/sh
# SPDX-License-Identifier: MIT
# What the shim costs: run.sh [BUILD]
exec python3 -B tests/bench/run.py "${1:-build}"
