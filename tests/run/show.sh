#!/bin/bash
# SPDX-License-Identifier: MIT
# What a newcomer meets: the demo, what it shows a trace with, and what the README and the manual pages claim:
# show.sh [BUILD]
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

# ---- the manual pages -------------------------------------------------------------------------------

pft_commands() { scripts/pft -h | sed -n 's/^  \([a-z]*\)  .*/\1/p'; }

# The options in the help of a command; ssh's is no option of ours.
help_options() {
    scripts/pft "$1" -h | sed 's/ssh -L//' | words -- '(^|[ ,])--?[a-z][a-z-]*' | tr -d ' ,' |
        grep -vxE -e '-h|--help' | sort -u
}

manual_section() { sed -n "/^\.Ss $1/,/^\.S[sh] /p" docs/pft.1 | sed '$d'; }
manual_options() { manual_section "$1" | words 'Fl -?[a-z][a-z-]*' | sed 's/^Fl /-/' | sort -u; }

manual_names_every_command() {
    only_in_first <(pft_commands | sort) <(sed -n 's/^\.Ss \([a-z]*\).*/\1/p' docs/pft.1 | sort) &&
        only_in_first <(sed -n 's/^\.Ss \([a-z]*\).*/\1/p' docs/pft.1 | sort) <(pft_commands | sort)
}

manual_names_every_option() {
    local command
    for command in $(pft_commands); do
        echo "pft $command"
        only_in_first <(help_options "$command") <(manual_options "$command") &&
            only_in_first <(manual_options "$command") <(help_options "$command") || return
    done
}

manual_names_every_verb() {
    only_in_first <(scripts/pft ctl -h | sed -n 's/^  \([a-z]*\)  .*/\1/p' | sort) \
        <(manual_section ctl | sed -n 's/^\.It Cm \([a-z]*\).*/\1/p' | sort)
}

manual_names_every_variable() {
    only_in_first <(words "\"$variables\"" shim/settings.c | tr -d '"') <(sed -n '/^\.It Ev/p' docs/libpftshim.7 | words "$variables") &&
        only_in_first <(words "$variables" docs/libpftshim.7) <(words "$variables" shim/settings.c)
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
test_that "the manual names every command" manual_names_every_command
test_that "the manual names the options of each command's help" manual_names_every_option
test_that "the manual names the verbs of pft ctl" manual_names_every_verb
test_that "the manual names every variable" manual_names_every_variable
exit $failed
