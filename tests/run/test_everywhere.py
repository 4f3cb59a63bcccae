# SPDX-License-Identifier: MIT
"""Every program once more in dev mode, and with each function selected: it must not notice."""
from harness import same, test

PROGRAMS = [
    ["altstack", 2000], ["backtrace"], ["callbacks"], ["calls"], ["calls_noplt"], ["calls_now"], ["cancel"],
    ["census"], ["chroot"], ["coroutines"], ["daemon"], ["deep", 1000], ["descriptors"], ["early"], ["errno", 200],
    ["fork"], ["fork_busy", 20], ["fork_return"], ["ifunc"], ["late"], ["longjmp"], ["names"], ["opened"],
    ["converts"], ["open_errors"], ["open_moved"], ["open_threads", 25], ["throw_opened"],
    ["privileges"], ["register_file", 20], ["registers", 20], ["short_threads", 200], ["siglongjmp", 5000],
    ["sigwait"], ["smallest_stack"], ["spawn"], ["state"], ["stopped"], ["storm", 4, 2000], ["tailcall"], ["throw"],
    ["throw_loop", 500], ["thrown_away", 500], ["times"], ["toy_malloc"], ["unwind"], ["versions"], ["wrapped"],
]


for argv in PROGRAMS:
    def in_dev_mode(argv=argv):
        same(argv, mode="dev").traces()

    def with_everything_selected(argv=argv):
        same(argv, funcs="*").traces()
    test(in_dev_mode, "%s runs in dev mode" % argv[0])
    test(with_everything_selected, "%s runs with everything selected" % argv[0])
