#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the tests of this folder: run.py [--slow] [--real | --signatures] [--bare] [WORDS OF A TEST'S NAME...]

--bare leaves the shim out and proves the programs alone. Works from the repository's root.
"""
import importlib
import sys

import harness

# Importing a module registers its tests.
OURS = ["test_calls", "test_slots", "test_control", "test_unwind", "test_registers", "test_interrupts", "test_threads",
        "test_process", "test_ends", "test_places", "test_privileges", "test_json", "test_report", "test_page", "test_merge", "test_diff", "test_guest", "test_opened",
        "test_sanitizers", "test_everywhere", "test_ctl", "test_bounds", "test_stacks", "test_window",
        "test_terminal", "test_executions", "test_open", "test_manual", "test_segments", "test_compress", "test_flight"]
OTHERS = {"--real": ["test_real_programs", "test_slow_programs", "test_slow_servers"],
          "--signatures": ["test_signatures"]}


def main(words):
    harness.bare = "--bare" in words
    for module in next((modules for word, modules in OTHERS.items() if word in words), OURS):
        importlib.import_module(module)
    chosen = harness.slow_tests if "--slow" in words else harness.tests
    return 1 if harness.run_all(chosen, [w for w in words if not w.startswith("--")]) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
