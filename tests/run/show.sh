#!/bin/bash
# SPDX-License-Identifier: MIT
# What a newcomer meets: the demo, what it shows a trace with, and what the README claims: show.sh [BUILD]
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${1:-build}
unset "${!PFT_@}" "${!MONARCH_@}" LD_PRELOAD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

test_that() {
    local name=$1
    shift
    if "$@" >"$scratch/why" 2>&1; then
        echo "ok - show: $name"
    else
        echo "not ok - show: $name"
        sed 's/^/  /' "$scratch/why"
        failed=1
    fi
}

# ---- the demo ---------------------------------------------------------------------------------------

demo_runs() { scripts/demo "$build" >"$scratch/said" 2>&1 || { cat "$scratch/said" && return 1; }; }
demo_said() { cat "$scratch/said" && grep -q "$1" "$scratch/said"; }

demo_trace() { echo "$build"/demo/traces/executions/latest/xz.*.pftrace; }

draws_xml() { python3 -c 'import sys, xml.dom.minidom as xml; xml.parse(sys.argv[1])' "$1"; }
draws_a_part() { scripts/draw-trace --from 1 --to 2 -o "$scratch/part.svg" "$(demo_trace)" && draws_xml "$scratch/part.svg"; }

says_in_one_line() {
    local said
    said=$("$@" 2>&1 >"$scratch/stdout")
    echo "said: $said"
    [ -n "$said" ] && [ "$(wc -l <<<"$said")" = 1 ]
}

# ---- the README -------------------------------------------------------------------------------------

# Each list is one word a line, sorted; what is only in the first is what is wrong.
only_in_first() {
    local odd
    odd=$(comm -23 "$1" "$2")
    echo "odd: $odd"
    [ -z "$odd" ]
}

words() { grep -ohE "$@" | sort -u; }

variables='(PFT|PERFETTO|MONARCH)_[A-Z_]*[A-Z]'

readme_names_every_variable() {
    only_in_first <(words "\"$variables\"" shim/settings.c | tr -d '"') <(words "$variables" README.md)
}

readme_names_no_other_variable() {
    only_in_first <(words "$variables" README.md) <(words -r "$variables" shim scripts tests/bench)
}

# Files as the target of a link or as code.
readme_leads_somewhere() {
    # shellcheck disable=SC2016  # Markdown's backquotes
    local target='\]\([^)#:]+\)|`(shim|encoder|scripts|tests|proto)/[a-z0-9_./-]*`'
    only_in_first <(words "$target" README.md | tr -d '`()]' | sort -u) \
        <(find . -path ./.git -prune -o -printf '%P\n%P/\n' | sort)
}

readme_makes_what_can_be_made() {
    # shellcheck disable=SC2016
    only_in_first <(words '^make [a-z-]+|`make [a-z-]+`' README.md | tr -d '`' | sort -u) \
        <(sed -nE 's/^([a-z -]+):.*/\1/p' Makefile | tr ' ' '\n' | sed 's/^/make /' | sort)
}

test_that "the demo runs" demo_runs
test_that "the demo says where its trace is" demo_said '^pft: trace: /.*\.pftrace$'
test_that "the demo's program does as without the shim" demo_said 'the same as without pft$'
test_that "the demo shows threads and functions" demo_said 'liblzma.so.5::lzma_code$'
test_that "the demo loses nothing" demo_said ' + 0 dropped$'
test_that "a picture of a trace is well formed" draws_xml "$build/demo/trace.svg"
test_that "a picture may show a part" draws_a_part
test_that "a picture of what is no trace is refused" says_in_one_line scripts/draw-trace README.md
test_that "a trace that is not there is refused" says_in_one_line scripts/trace-table "$scratch/none"
test_that "the README names every variable" readme_names_every_variable
test_that "the README names no variable that is not there" readme_names_no_other_variable
test_that "the README's files are there" readme_leads_somewhere
test_that "the README's targets can be made" readme_makes_what_can_be_made
exit $failed
