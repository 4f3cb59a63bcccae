#!/bin/bash
# SPDX-License-Identifier: MIT
# The launcher: what it refuses, what it passes on, what it says: pft.sh [BUILD]
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(readlink -f "${1:-build}")
pft=$PWD/scripts/pft
unset "${!PFT_@}" "${!MONARCH_@}" LD_PRELOAD
export PFT_LIBRARY=$build/libpftshim.so
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failed=0

# test NAME COMMAND...: the command is a function of this file; it is wrong when it ends in a false status.
test_that() {
    local name=$1
    shift
    if "$@" >"$scratch/why" 2>&1; then
        echo "ok - pft: $name"
    else
        echo "not ok - pft: $name"
        sed 's/^/  /' "$scratch/why"
        failed=1
    fi
}

# A run without the library's doing anything: what pft itself does.
quiet_run() {
    "$pft" run --mode off --dir "$scratch/traces" "$@"
}

# refuses PATTERN PROGRAM...: status 2, nothing on stdout, one line that fits.
refuses() {
    local pattern=$1 said status
    shift
    said=$(quiet_run "$@" 2>&1 >"$scratch/stdout")
    status=$?
    echo "said: $said (status $status)"
    [ "$status" = 2 ] && [ ! -s "$scratch/stdout" ] && [ "$(wc -l <<<"$said")" = 1 ] && [[ $said == $pattern ]]
}

equals() {
    echo "got: $1"
    echo "expected: $2"
    [ "$1" = "$2" ]
}

# Ten seconds at most.
until_holds() {
    local i
    for ((i = 0; i < 100; i++)); do
        "$@" && return
        sleep 0.1
    done
    return 1
}

# ---- refusals ---------------------------------------------------------------------------------------

compile() {
    local output=$1
    shift
    echo 'int main(void) { return 0; }' | gcc "$@" -o "$output" -x c - 2>/dev/null
}

patched() { # patched OFFSET BYTE FILE: a copy of /bin/true with one byte changed
    cp /bin/true "$3" && printf "\\x$2" | dd of="$3" bs=1 seek="$1" conv=notrunc status=none
}

refuses_static() { compile static -static && refuses "pft: *static: is statically linked*" ./static; }
refuses_static_pie() { compile static-pie -static-pie && refuses "pft: *static-pie: is statically*" ./static-pie; }
refuses_setuid() { cp /bin/true setuid && chmod u+s setuid && refuses "pft: *setuid: is setuid or*" ./setuid; }
refuses_setgid() { cp /bin/true setgid && chmod g+s setgid && refuses "pft: *setgid: is setuid or*" ./setgid; }
refuses_32_bit() { patched 4 01 elf32 && refuses "pft: *elf32: is a 32-bit program*" ./elf32; }
refuses_processor() { patched 18 b7 arm && refuses "pft: *arm: is for another processor*" ./arm; }
refuses_absent() { refuses "pft: nosuch: no such program" nosuch; }
refuses_directory() { refuses "pft: /tmp: is not a regular file" /tmp; }
refuses_closed() { : >closed && refuses "pft: ./closed: is not executable" ./closed; }
refuses_text() { echo hello >text && chmod +x text && refuses "pft: ./text: is neither*" ./text; }

refuses_capabilities() {
    cp /bin/true capable && PATH=$PATH:/usr/sbin setcap cap_net_raw+ep capable || return
    refuses "pft: *capable: has file capabilities*" ./capable
}

refuses_other_libc() {
    compile musl -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1
    refuses "pft: *musl: uses another C library (/lib/ld-musl-x86_64.so.1)*" ./musl
}

refuses_script() {
    compile static -static
    printf '#!%s\n' "$scratch/static" >script && chmod +x script
    refuses "pft: *static: is statically linked*" ./script || return
    printf '#!/usr/bin/env -S A=1 %s\n' "$scratch/static" >script
    refuses "pft: *static: is statically linked*" ./script
}

refuses_usage() {
    refuses "pft: --nosuch: no such option*" --nosuch true && refuses "pft: no program*" &&
        refuses "pft: --funcs: needs a value" --funcs
}

# asks PATTERN ARGUMENTS...: pft with the arguments says one line that fits, and ends with status 2.
asks() {
    local pattern=$1 said status
    shift
    said=$("$pft" "$@" 2>&1)
    status=$?
    echo "said: $said (status $status)"
    [ "$status" = 2 ] && [ "$(wc -l <<<"$said")" = 1 ] && [[ $said == $pattern ]]
}

says_what_is_meant() {
    asks "pft: reprot: no such command (report?); see pft -h" reprot &&
        asks "pft: rnu: no such command (run?); see pft -h" rnu true &&
        asks "pft: xyzzy: no such command; see pft -h" xyzzy &&
        asks "pft: --mim-duraton: no such option (--min-duration?); see pft run -h" run --mim-duraton=1s true &&
        asks "pft: --fromat: no such option (--format?); see pft report -h" report --fromat=text &&
        asks "pft: --sort-by-name: no such option; see pft report -h" report --sort-by-name
}

refuses_library() { PFT_LIBRARY=/nosuch.so refuses "pft: /nosuch.so: no such file*" true; }

if ((EUID == 0)); then
    test_that "refuses file capabilities" refuses_capabilities
fi
test_that "refuses a static program" refuses_static
test_that "refuses a static-pie program" refuses_static_pie
test_that "refuses a setuid program" refuses_setuid
test_that "refuses a setgid program" refuses_setgid
test_that "refuses a 32-bit program" refuses_32_bit
test_that "refuses a program for another processor" refuses_processor
test_that "refuses a program of another C library" refuses_other_libc
test_that "refuses a program that is not there" refuses_absent
test_that "refuses a directory" refuses_directory
test_that "refuses a file that is not executable" refuses_closed
test_that "refuses a text without interpreter" refuses_text
test_that "refuses a script for what runs it" refuses_script
test_that "refuses what it does not know" refuses_usage
test_that "refuses to run without its library" refuses_library
test_that "says which command or option may be meant" says_what_is_meant

# ---- what is passed on ------------------------------------------------------------------------------

passes_arguments() { equals "$(quiet_run printf '<%s>' 'a b' '' '*' --mode)" '<a b><><*><--mode>'; }
passes_status() { quiet_run sh -c 'exit 37'; equals $? 37; }
passes_stdin() { equals "$(echo through | quiet_run cat)" through; }

# 143 is what a shell says of SIGTERM as well: only wait() can tell.
tells_exit_from_signal() {
    equals "$(python3 - "$pft" <<'PYTHON'
import os, subprocess, sys
def end(command):
    return subprocess.run([sys.argv[1], "run", "--mode=off", "sh", "-c", command], stderr=subprocess.DEVNULL).returncode
print(end("exit 143"), end("kill -TERM $$"), end("exit 130"), end("kill -INT $$"), end("kill -KILL $$"), end("kill -SEGV $$"))
PYTHON
)" "143 -15 130 -2 -9 -11"
}

closed_stdin() { quiet_run sh -c '[ ! -e /proc/self/fd/0 ]' <&-; }

same_descriptors() {
    # shellcheck disable=SC2016
    equals "$(quiet_run bash -c 'echo /proc/$$/fd/*' | sed 's/[0-9]*\/fd/fd/g')" \
        "$(bash -c 'echo /proc/$$/fd/*' | sed 's/[0-9]*\/fd/fd/g')"
}

ignores_nothing() {
    equals "$(quiet_run grep -E 'Sig(Ign|Blk|Cgt)' /proc/self/status)" "$(grep -E 'Sig(Ign|Blk|Cgt)' /proc/self/status)"
}

# From python: a shell starts what is in the background with INT and QUIT ignored.
forwards_all() {
    equals "$(python3 - "$pft" <<'PYTHON'
import signal, subprocess, sys
def end(name):
    program = "trap 'exit 42' %s; echo ready; while :; do sleep 0.05; done" % name
    pft = subprocess.Popen([sys.argv[1], "run", "--mode=off", "bash", "-c", program], stdout=subprocess.PIPE)
    pft.stdout.readline()
    pft.send_signal(getattr(signal, "SIG" + name))
    return pft.wait(10)
print([end(name) for name in ("TERM", "HUP", "INT", "QUIT", "USR1", "USR2")])
PYTHON
)" "[42, 42, 42, 42, 42, 42]"
}

waits_on() {
    "$pft" run --mode=off bash -c "trap 'echo got' USR1; touch ready; sleep 0.5; sleep 0.2; exit 5" >out &
    until_holds test -e ready && kill -s USR1 $! && wait $!
    equals "$? $(cat out)" "5 got"
}

test_that "passes arguments as they are" passes_arguments
test_that "passes the exit status" passes_status
test_that "passes stdin" passes_stdin
test_that "ends by the signal that ended the program, and only then" tells_exit_from_signal
test_that "leaves a closed stdin closed" closed_stdin
test_that "adds no descriptor" same_descriptors
test_that "leaves the program's signals as they were" ignores_nothing
test_that "forwards signals" forwards_all
test_that "waits for a program that lives on after a signal" waits_on

# ---- what is set and said ---------------------------------------------------------------------------

variables() { "$pft" run --mode off "$@" -- env | grep -E '^(PFT_|LD_PRELOAD)' | grep -v PFT_LIBRARY | sort; }

sets_variables() {
    equals "$(variables --dir /tmp/x --id night --name worker --buffer=64K --overflow drop --format pftrace \
        --min-duration 10us --max-depth=5 --funcs 'a*,-b' --processes 'git,-s*' --clock tsc --verbose)" "LD_PRELOAD=$PFT_LIBRARY
PFT_BUFFER=64K
PFT_CLOCK=tsc
PFT_EXECUTION_ID=night
PFT_FORMAT=pftrace
PFT_FUNCS=a*,-b
PFT_MAX_DEPTH=5
PFT_MIN_DURATION=10us
PFT_MODE=off
PFT_OVERFLOW=drop
PFT_PROCESSES=git,-s*
PFT_PROCESS_NAME=worker
PFT_TRACE_DIR=/tmp/x
PFT_VERBOSE=1"
}

keeps_preload() { equals "$(LD_PRELOAD=libm.so.6 variables | grep LD_)" "LD_PRELOAD=$PFT_LIBRARY:libm.so.6"; }
keeps_id() { equals "$(PFT_EXECUTION_ID=mine variables | grep _ID)" PFT_EXECUTION_ID=mine; }
absolute_directory() { equals "$(variables --dir a/b | grep _DIR)" "PFT_TRACE_DIR=$PWD/a/b"; }

fits() { # fits LINES COMMAND...: its help
    local lines=$1 help
    shift
    help=$("$pft" "$@" -h)
    echo "pft $*: $(wc -l <<<"$help") lines of up to $(wc -L <<<"$help") columns"
    [ "$(wc -l <<<"$help")" -le "$lines" ] && [ "$(wc -L <<<"$help")" -le 80 ]
}

commands() { "$pft" -h | sed -n 's/^  \([a-z]*\)  .*/\1/p'; }

fits_a_screen() {
    local command
    fits 24 || return
    for command in $(commands); do
        fits 40 "$command" || return
    done
}

helps_by_a_word() {
    equals "$("$pft" help)" "$("$pft" -h)" && equals "$("$pft" help ls)" "$("$pft" ls -h)"
}

names_every_command() { equals "$(commands | sort | paste -sd' ')" "$(sed -n 's/^command_\(.*\)() {$/\1/p' "$pft" | sort | paste -sd' ')"; }
says_nothing_without_trace() { equals "$(quiet_run true 2>&1)" ""; }

says_the_trace() {
    local said
    said=$("$pft" run --dir "$scratch/said" --id night ls 2>&1 >/dev/null)
    equals "$said" "pft: trace: $(echo "$scratch"/said/executions/night/ls.*.pftrace)" &&
        [ -s "${said#pft: trace: }" ]
}

says_new_traces_only() {
    "$pft" run --dir "$scratch/new" --id night --name one true 2>/dev/null
    equals "$("$pft" run --dir "$scratch/new" --id night --name two true 2>&1)" \
        "pft: trace: $scratch/new/executions/night/two.pftrace"
}

says_a_few() {
    local said
    said=$("$pft" run --dir "$scratch/few" --id night sh -c 'for i in 1 2 3 4 5 6; do /bin/true; done' 2>&1)
    echo "$said"
    [ "$(wc -l <<<"$said")" = 5 ] && [[ $said == *"and 3 more in $scratch/few/executions/night" ]]
}

test_that "sets a variable for each option" sets_variables
test_that "keeps another preload behind its own" keeps_preload
test_that "keeps an execution id that is set" keeps_id
test_that "makes the directory absolute" absolute_directory
test_that "helps on one screen" fits_a_screen
test_that "names every command in its help" names_every_command
test_that "helps when it is asked by a word" helps_by_a_word
test_that "says nothing when nothing is traced" says_nothing_without_trace
test_that "says where the trace is" says_the_trace
test_that "says only what is new" says_new_traces_only
test_that "says a few of many traces" says_a_few

exit "$failed"
