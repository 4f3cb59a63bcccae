# SPDX-License-Identifier: MIT
"""Options, manual pages and completion are whole, and what is installed works.

That the manual names what the help names is looked at in show.sh.
"""
import glob
import json
import os
import re
import shutil
import subprocess

import harness
import trace as reader
from harness import NotApplicable, fresh_directory, program, test
from test_executions import PFT, old_ones, pft

PAGES = [os.path.join(harness.ROOT, "docs", page) for page in ("pft.1", "libpftshim.7")]
COMPLETION = os.path.join(harness.ROOT, "scripts", "pft.bash-completion")


def helped(*command):
    done = pft(*command, "-h")
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout


def commands():
    return re.findall(r"^  ([a-z]+)  ", helped(), re.M)


def options(text):
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", text)) - {"-h", "--help"}


def source(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def settings():
    return re.findall(r'^\s*\{?"(PFT_[A-Z_]+)",', source(os.path.join(harness.ROOT, "shim", "settings.c")), re.M)


# ---- options and manual pages -----------------------------------------------------------------------------------

@test
def every_variable_has_an_option_of_run():
    found = set()
    for option in sorted(options(helped("run"))):
        value = [] if option == "--verbose" else ["x"]
        done = pft("run", "--mode=off", option, *(["off"] if option == "--mode" else value), "env")
        assert done.returncode == 0, done.stderr
        found |= set(re.findall(r"^(PFT_[A-Z_]+)=", done.stdout, re.M))
    assert found - {"PFT_LIBRARY"} == set(settings()), found ^ set(settings())


@test
def the_manual_pages_are_well_written():
    if not shutil.which("mandoc"):
        raise NotApplicable("needs mandoc")
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", *PAGES], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stdout, done.stdout
    for page in PAGES:
        done = subprocess.run(["mandoc", "-T", "ascii", page], capture_output=True, text=True)
        assert done.returncode == 0 and len(done.stdout) > 1000 and not done.stderr, done.stderr
    if shutil.which("groff"):
        done = subprocess.run(["groff", "-mandoc", "-Tascii", "-ww", "-z", *PAGES], capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, done.stderr


# ---- completion -------------------------------------------------------------------------------------

def completed(*words, directory=None, more=""):
    """What bash offers for the last of the words, which readline took apart."""
    script = '%s\nsource %s\nCOMP_WORDS=("$@")\nCOMP_CWORD=$(($# - 1))\ncompopt() { :; }\n_pft "$1"\nprintf "%%s\\n" "${COMPREPLY[@]}"'
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PFT_", "MONARCH_", "LD_"))}
    environment.update(PFT_LIBRARY=harness.SHIM, **({"PFT_TRACE_DIR": directory} if directory else {}))
    done = subprocess.run(["bash", "-c", script % (more, COMPLETION), "bash", PFT, *words], env=environment,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return set(done.stdout.split())


@test
def completion_offers_every_command_and_option():
    assert completed("") == set(commands()) | {"-h", "--help"}
    assert completed("re") == {c for c in commands() if c.startswith("re")}
    for command in commands():
        assert completed(command, "-") == options(helped(command)) | {"-h", "--help"}, command
    assert completed("run", "--mi") == {"--min-duration"}


@test
def completion_offers_the_values_of_settings():
    accepted = source(os.path.join(harness.ROOT, "shim", "settings.c"))
    for option, name in (("--overflow", "overflow_parse"), ("--clock", "clock_parse"), ("--format", "format_parse"),
                         ("--mode", "mode_parse")):
        words = set(re.findall(r'\{"([^"]+)", PFT_', accepted.partition("static bool " + name)[2].partition("\n}\n")[0]))
        offered = completed("run", option, "")
        assert offered and offered <= words, (option, offered, words)
        if option in ("--overflow", "--clock"):
            assert offered == words, (option, offered, words)
        assert completed("run", option, "=") == completed("run", option, "=", "") == offered, option
    assert completed("run", "--mode", "=", "d") == {"dev"}
    for command, option in (("report", "--format"), ("report", "--sort"), ("ls", "--format")):
        for value in completed(command, option, ""):
            assert re.search(r"\b%s\b" % value, helped(command)), (command, option, value)


@test
def completion_offers_executions_traces_and_processes():
    directory = old_ones(night=1, noon=2)
    for command in ("ls", "clean", "report", "merge", "open"):
        assert {"night", "noon"} <= completed(command, "n", directory=directory), command
        assert "night" in completed(command, "--force", "n", directory=directory), command
    assert completed("clean", "--dir", directory, "n") == {"night", "noon"}
    assert completed("ls", "--dir", "=", directory, "n") == {"night", "noon"}
    path = os.path.join(directory, "executions", "night", "")
    trace, = glob.glob(path + "*.pftrace")
    assert completed("convert", path) == {trace}
    assert completed("ls", "--dir", path[:-3]) == {path[:-1]}
    prompted = harness.Prompted(funcs="leaf")
    prompted.do("leaf 1")
    assert str(prompted.pid) in completed("ctl", "")
    assert completed("ctl", str(prompted.pid), "st") == {"status", "start", "stop"}
    prompted.end()


@test
def completion_leaves_the_program_of_run_to_the_others():
    whole = "/usr/share/bash-completion/bash_completion"
    assert "env" in completed("run", "--mode", "dev", "--", "en")
    assert "env" in completed("run", "--verbose", "en")
    assert "/bin/" in " ".join(completed("run", "ls", "/bi")) + "/"
    if os.path.exists(whole):
        marked = "_command_offset() { COMPREPLY=(offset$1); }"
        assert completed("run", "--mode", "dev", "git", "-", more=marked) == {"offset4"}


# ---- installation -----------------------------------------------------------------------------------

def make(target, root):
    done = subprocess.run(["make", "-s", target, "O=" + os.path.relpath(harness.BUILD, harness.ROOT), "DESTDIR=" + root,
                           "PREFIX=/opt/pft"], cwd=harness.ROOT, capture_output=True, text=True, timeout=170)
    assert done.returncode == 0, done.stderr


def files_below(root):
    return sorted(os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names)


@test
def what_is_installed_works_and_can_be_removed():
    if harness.bare:
        raise NotApplicable("runs without the shim")
    root, traces = fresh_directory(), fresh_directory()
    make("install", root)
    home = os.path.join(root, "opt", "pft")
    installed = os.path.join(home, "bin", "pft")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PFT_", "MONARCH_", "LD_"))}
    environment.update(PFT_TRACE_DIR=traces, LD_LIBRARY_PATH=harness.PROGRAMS, MANPATH=os.path.join(home, "share", "man"))

    def run(*argv):
        done = subprocess.run([*argv], env=environment, cwd="/", stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60)
        assert done.returncode == 0, (argv, done.stderr)
        return done

    run(installed, "run", "--funcs=leaf,outer", "--id=night", program("calls"))
    path, = glob.glob(os.path.join(traces, "executions", "night", "*.pftrace"))
    totals = reader.Trace(path).totals()
    assert json.loads(run(installed, "ls", "--format=json", "night").stdout)["processes"][0]["events"] == totals["produced"]
    assert "::leaf" in run(installed, "report").stdout or "leaf" in run(installed, "report", "night").stdout
    run(installed, "convert", "-o", os.path.join(traces, "out.json"), path)
    run(installed, "merge", "-o", os.path.join(traces, "out.pftrace"), "night")
    run(installed, "recover", "night")
    run(installed, "clean", "--yes", "night")
    assert not os.path.exists(path)
    for page in ("pft", "libpftshim"):
        if shutil.which("man"):
            assert run("man", "-w", page).stdout.startswith(home), page
    completion = os.path.join(home, "share", "bash-completion", "completions", "pft")
    assert "complete -F _pft pft" in run("bash", "-c", "source %s && complete -p pft" % completion).stdout
    make("uninstall", root)
    assert not files_below(root), files_below(root)
    left = [folder for folder, _, _ in os.walk(root) if "pftshim" in folder]
    assert not left, left
