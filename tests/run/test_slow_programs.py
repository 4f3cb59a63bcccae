# SPDX-License-Identifier: MIT
"""More programs that nobody wrote for this, as test_real_programs has them, and larger ones: editors, interpreters,
compilers, media, archives. What is not installed is skipped."""
import os
import subprocess

from harness import fresh_directory, slow
from real import compare, files, need, nothing, prose, text, write

PYTHON = "/usr/bin/python3"  # a plain interpreter: version managers put a shell script of this name in front

# ---- editors ----


@slow
def vim_in_batch():
    compare(["vim", "-u", "NONE", "-i", "NONE", "-n", "-es", "-c", "%s/e/EE/g", "-c", "g/q/d", "-c", "sort u",
             "-c", "normal Goend", "-c", "wq! out.txt", "prose.txt"], prose(200000), "read,write,vim_*,open*", True)


EMACS = """
(progn (find-file "prose.txt") (sort-lines nil (point-min) (point-max)) (garbage-collect)
  (dotimes (i 200) (setq kept (cons (make-string 1000 ?x) kept)) (if (> (length kept) 20) (setq kept nil)))
  (garbage-collect) (replace-regexp-in-region "e\\\\(.\\\\)" "\\\\1e" (point-min)) (write-region nil nil "out.txt")
  (princ (md5 (buffer-string))) (princ (format "%S" (json-parse-string "{\\"a\\": [1, 2.5, null]}"))))
"""


@slow
def emacs_in_batch():
    compare(["emacs", "-Q", "--batch", "--eval", "(setq kept nil)", "--eval", EMACS], prose(100000),
            "read,write,re_*,malloc,free", True)


# ---- interpreters ----

MORE_PYTHON = """
import asyncio, hashlib, multiprocessing, os, signal, sqlite3, ctypes, tempfile, concurrent.futures
def square(n): return n * n
async def main():
    server = await asyncio.start_unix_server(serve, "socket")
    answers = await asyncio.gather(*[ask(n) for n in range(50)])
    server.close()
    process = await asyncio.create_subprocess_exec("cat", stdin=-1, stdout=-1)
    return answers, (await process.communicate(b"through cat"))[0]
async def serve(reader, writer):
    writer.write((await reader.readline()).upper()); await writer.drain(); writer.close()
async def ask(n):
    reader, writer = await asyncio.open_unix_connection("socket")
    writer.write(b"line %d\\n" % n)
    return await reader.read()
if __name__ == "__main__":
    print(asyncio.run(main()))
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool: print(method, sum(pool.map(square, range(500))))
    with concurrent.futures.ProcessPoolExecutor(2) as pool: print(sum(pool.map(square, range(50))))
    base = sqlite3.connect(":memory:"); base.create_function("sq", 1, square)
    print(base.execute("with n(i) as (select 1 union all select i+1 from n where i<500) select sum(sq(i)) from n").fetchall())
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
    numbers = (ctypes.c_int * 9)(5, 3, 8, 1, 9, 2, 7, 4, 6)
    ctypes.CDLL(None).qsort(numbers, 9, 4, compare(lambda a, b: a[0] - b[0])); print(list(numbers))
    signal.signal(signal.SIGALRM, lambda *_: print("alarm")); signal.setitimer(signal.ITIMER_REAL, 0.01); signal.pause()
"""


@slow
def python3_with_processes_and_asyncio():
    compare([PYTHON, "-I", "work.py"], files(work_py=MORE_PYTHON), "sem_*,read,write,epoll_*,fork,qsort", False,
            processes=8)


RUBY = """
require 'json'; require 'zlib'; require 'digest'; require 'fiber'
GC.stress = ARGV[0] == 'stress'
made = (ARGV[0] == "stress" ? 8 : 30).times.map { |n| JSON.parse(JSON.generate({'n' => n, 'text' => 'x' * n, 'list' => [1, 2.5, nil, {'a' => 'b'}]})) }
puts Digest::SHA256.hexdigest(made.to_s), Zlib::Inflate.inflate(Zlib::Deflate.deflate(made.to_s)) == made.to_s
GC.stress = false
threads = 4.times.map { |t| Thread.new { 200.times.map { |n| JSON.generate([t, n]) }.size } }
puts threads.map(&:value).sum
fiber = Fiber.new { 5.times { |n| Fiber.yield JSON.generate([n]) }; :done }
puts 6.times.map { fiber.resume }.inspect
begin; JSON.parse('{'); rescue JSON::ParserError; puts 'thrown'; end
puts `echo child`; puts Process.wait2(fork { exit 3 })[1].exitstatus
"""


@slow
def ruby_with_threads_and_fibers():
    compare(["ruby", "work.rb"], files(work_rb=RUBY), "rb_str_*,read,write,deflate", True, processes=2)


@slow
def ruby_collects_garbage_at_each_allocation():
    compare(["ruby", "work.rb", "stress"], files(work_rb=RUBY), "rb_*", True, processes=2)


LUA = """
local words = {}
for line in io.lines("prose.txt") do for w in line:gmatch("%a+") do words[w] = (words[w] or 0) + 1 end end
local names = {}
for w in pairs(words) do names[#names + 1] = w end
table.sort(names, function(a, b) return words[a] == words[b] and a < b or words[a] > words[b] end)
for i = 1, 10 do print(names[i], words[names[i]]) end
local steps = coroutine.wrap(function() for i = 1, 5 do coroutine.yield(i) end end)
print(steps(), steps(), pcall(error, "thrown"))
local sum = 0
for i = 1, 300000 do sum = sum + math.sin(i) * (i % 7) end
print(string.format("%.6f", sum))
print(io.popen("echo child"):read("a"))
"""


@slow
def lua_over_a_file():
    def prepare(directory):
        prose(200000)(directory)
        write(directory, "work.lua", LUA)
    compare(["lua5.4", "work.lua"], prepare, "lua_*,luaL_*,read,fread", True, processes=2)


@slow
def luajit_over_a_file():
    def prepare(directory):
        prose(200000)(directory)
        write(directory, "work.lua", LUA.replace('"a")', '"*a")'))
    compare(["luajit", "work.lua"], prepare, "mmap,mprotect,read,fread", True, processes=2)


NODE = """
const {Worker, isMainThread, parentPort, workerData} = require('worker_threads');
const crypto = require('crypto'), zlib = require('zlib'), {execFileSync} = require('child_process');
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
if (!isMainThread) { parentPort.postMessage(workerData + ' ' + fib(20)); }
else {
  const packed = zlib.gzipSync('some text '.repeat(5000));
  console.log(crypto.createHash('sha256').update(zlib.gunzipSync(packed)).digest('hex'), fib(24));
  console.log(execFileSync('echo', ['child']).toString());
  const all = [0, 1, 2].map(n => new Promise(done => new Worker(__filename, {workerData: n}).on('message', done)));
  Promise.all(all).then(said => { console.log(said); try { null.x } catch (e) { console.log(e.message) } });
}
"""


@slow
def node_with_workers():
    compare(["node", "work.js"], files(work_js=NODE), "read,write,epoll_*,uv_*,pthread_*", True, processes=2)


PHP = """<?php
$words = array_count_values(str_word_count(file_get_contents('prose.txt'), 1)); arsort($words); ksort($words);
echo count($words), md5(serialize($words)), "\\n", json_encode(['a' => [1, 2.5, null]]), "\\n";
function numbers() { for ($i = 0; $i < 5; $i++) yield $i; }
foreach (numbers() as $n) echo $n; echo preg_replace('/e(.)/', '$1e', 'some text here'), "\\n";
try { throw new Exception('thrown'); } catch (Exception $e) { echo $e->getMessage(), "\\n"; }
echo shell_exec('echo child'), usort($list, 'strcmp') ? '' : '';
"""


@slow
def php_over_a_file():
    def prepare(directory):
        prose(200000)(directory)
        write(directory, "work.php", PHP.replace(", usort($list, 'strcmp') ? '' : ''", ""))
    compare(["php", "work.php"], prepare, "read,write,pcre2_*,open*", True, processes=2)


JAVA = """
import java.util.*; import java.util.concurrent.*; import java.util.stream.*; import java.security.*;
public class Work {
    static int depth(int n) { return depth(n + 1) + 1; }
    public static void main(String[] a) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        List<Future<Long>> sums = new ArrayList<>();
        for (int t = 0; t < 8; t++) { final int k = t;
            sums.add(pool.submit(() -> LongStream.range(0, 200000).map(i -> i * k % 7).sum())); }
        for (Future<Long> sum : sums) System.out.println(sum.get());
        pool.shutdown();
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (int i = 0; i < 2000; i++) digest.update(new byte[500]);
        System.out.println(Arrays.toString(digest.digest()));
        try { depth(0); } catch (StackOverflowError e) { System.out.println("overflow"); }
        try { ((String) null).length(); } catch (NullPointerException e) { System.out.println("null"); }
        List<byte[]> kept = new ArrayList<>();
        for (int i = 0; i < 2000; i++) { kept.add(new byte[20000]); if (kept.size() > 100) kept.clear(); }
        System.gc(); System.exit(3 - 3);
    }
}
"""


@slow
def java_with_threads_and_a_stack_overflow():
    compare(["java", "-Xmx64m", "-Xshare:auto", "Work.java"], files(Work_java=JAVA), "pthread_*,JVM_*,read,mmap", True)


# ---- compilers, and what they make ----

CXX = """
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
int main() {
    std::vector<std::thread> threads;
    std::vector<std::string> said(4);
    for (int t = 0; t < 4; t++) threads.emplace_back([t, &said] {
        try { said.at(t + (t == 2) * 5) = std::to_string(t * t); }
        catch (const std::out_of_range &) { said[t] = "thrown"; } });
    for (auto &thread : threads) thread.join();
    for (auto &text : said) std::puts(text.c_str());
}
"""


def compiled(compiler, processes):
    def prepare(directory):
        write(directory, "work.cc", CXX)
        write(directory, "work.sh", "set -e\n%s -O1 -std=c++17 -o work work.cc -pthread\n./work\nrm work\n" % compiler)
    compare(["sh", "work.sh"], prepare, "read,open*,pthread_*,std::*", True, needs=[compiler], processes=processes)


@slow
def gxx_and_what_it_makes():
    compiled("g++", 5)


@slow
def clang_and_what_it_makes():
    compiled("clang++", 3)


CMAKE = """
cmake_minimum_required(VERSION 3.10)
project(work C)
add_library(part SHARED part.c)
add_executable(work work.c)
target_link_libraries(work part)
"""


@slow
def cmake_make_and_what_they_make():
    def prepare(directory):
        os.mkdir(os.path.join(directory, "src"))
        for name, content in (("CMakeLists.txt", CMAKE), ("part.c", "int part(void) { return 42; }\n"),
                              ("work.c", "#include <stdio.h>\nint part(void);\n"
                                         "int main(void) { printf(\"%d\\n\", part()); }\n")):
            write(directory, os.path.join("src", name), content)
        write(directory, "work.sh", "set -e\ncmake -S src -B out >/dev/null\nmake -C out -j2 -s >/dev/null\nout/work\n")
    compare(["sh", "work.sh"], prepare, "read,open*,fork,posix_spawn*", False, needs=["cmake", "make"], processes=20)


GO = """
package main

/*
#include <stdlib.h>
#include <string.h>
static long twice(long x) { char *p = malloc(10); strcpy(p, "x"); free(p); return 2 * x; }
*/
import "C"
import ("fmt"; "runtime"; "sync")

func main() {
    var group sync.WaitGroup
    sums := make([]int, 8)
    for t := range sums {
        group.Add(1)
        go func(t int) { defer group.Done(); for i := 0; i < 2000; i++ { sums[t] += int(C.twice(C.long(i))) } }(t)
    }
    group.Wait()
    runtime.GC()
    fmt.Println(sums)
    defer func() { fmt.Println("recovered", recover() != nil) }()
    var p *int
    fmt.Println(*p)
}
"""


def built(directory, source, content, *command):
    """Writes the source, and builds it there without the shim."""
    need(command[0])
    write(directory, source, content)
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True,
                          env={**os.environ, "GOCACHE": os.path.join(directory, "cache"), "GO111MODULE": "off"})
    assert done.returncode == 0, done.stderr[-500:]


@slow
def a_go_program_with_cgo():
    where = fresh_directory()
    built(where, "work.go", GO, "go", "build", "-o", "work", "work.go")
    compare([os.path.join(where, "work")], nothing, "malloc,free,pthread_*", True)


RUST = """
use std::{collections::BTreeMap, panic, sync::mpsc, thread};
fn main() {
    let (out, done) = mpsc::channel();
    for t in 0..4u64 { let out = out.clone();
        thread::spawn(move || { let v: Vec<String> = (0..2000).map(|i| format!("{}", i * t)).collect();
            out.send((t, v.concat().len())).unwrap() }); }
    drop(out);
    let all: BTreeMap<u64, usize> = done.iter().collect();
    println!("{:?}", all);
    panic::set_hook(Box::new(|_| {}));
    println!("{}", panic::catch_unwind(|| { panic!("thrown") }).is_err());
    println!("{}", thread::spawn(|| { panic!("in a thread") }).join().is_err());
    std::process::exit(0);
}
"""


@slow
def a_rust_program():
    where = fresh_directory()
    built(where, "work.rs", RUST, "rustc", "-O", "-C", "debuginfo=1", "work.rs")
    compare([os.path.join(where, "work")], nothing, "*@libc.so.6", True)


# ---- media ----


@slow
def ffmpeg_with_threads():
    compare(["ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=duration=1:size=160x120:rate=10",
             "-f", "lavfi", "-i", "sine=duration=1", "-threads", "2", "-c:v", "mpeg4", "-c:a", "ac3", "-bitexact",
             "-flags", "+bitexact", "-fflags", "+bitexact", "out.mkv"], nothing, "avcodec_*,av_*,pthread_*", True)


@slow
def imagemagick_draws():
    compare(["convert", "-size", "200x200", "plasma:red-blue", "-seed", "1", "+noise", "Uniform", "-blur", "0x2",
             "-resize", "50%", "-strip", "-define", "png:exclude-chunks=date,time", "gray:out"],
            nothing, "Blur*,Resize*,read,write,omp_*,GOMP_*", False)


@slow
def sox_makes_a_sound():
    compare(["sox", "-R", "-n", "-r", "8000", "-b", "16", "out.wav", "synth", "2", "pluck", "C", "reverb"],
            nothing, "sox_*,lsx_*,fwrite", True)


# ---- keys and archives ----

GPG = """
set -e
mkdir -m 700 home
export GNUPGHOME=$PWD/home
gpg --batch --quiet --passphrase '' --quick-gen-key a@b ed25519 default never 2>/dev/null
gpg --batch --quiet --passphrase word --pinentry-mode loopback -c -o sealed prose.txt
gpg --batch --quiet --passphrase word --pinentry-mode loopback -d sealed | cmp - prose.txt
gpg --batch --quiet -o signed -s prose.txt
gpg --batch --quiet -d signed 2>/dev/null | cmp - prose.txt && echo same
gpgconf --kill all
"""


@slow
def gpg_with_its_agent():
    def prepare(directory):
        prose(100000)(directory)
        write(directory, "work.sh", GPG)
    compare(["sh", "work.sh"], prepare, "gcry_*,read,write", False, needs=["gpg"], processes=8)


ARCHIVES = """
set -e
mkdir tree
for n in 1 2 3 4 5; do head -c "$((n * 9000))" prose.txt >tree/$n; done
touch -d @0 tree/*
%s
"""


def archive(name, commands, funcs, needs=()):
    def prepare(directory):
        prose(100000)(directory)
        write(directory, "work.sh", ARCHIVES % commands)
    compare(["sh", "work.sh"], prepare, funcs, False, needs=[name, *needs], processes=3)


@slow
def seven_zip_and_back():
    archive("7z", "7z a -bd -mmt=2 all.7z tree >/dev/null\n7z x -bd -oout all.7z >/dev/null\ndiff -r tree out/tree",
            "read,write,pthread_*")


@slow
def zip_and_back():
    archive("zip", "zip -qr all.zip tree\nunzip -q all.zip -d out\ndiff -r tree out/tree", "read,write,deflate*",
            ["unzip"])


@slow
def rsync_to_a_copy():
    archive("rsync", "rsync -a tree/ out/\necho more >>tree/3\nrsync -a --no-whole-file tree/ out/\ndiff -r tree out",
            "read,write,poll,select,fork")


# ---- a debugger ----


@slow
def gdb_runs_a_program():
    def prepare(directory):
        write(directory, "work.gdb", "set pagination off\nset startup-with-shell off\nset confirm off\n"
              "unset environment LD_PRELOAD\nbreak exit\nrun\nbacktrace 1\ncontinue\nquit\n")
    compare(["sh", "-c", "gdb -q -nx -batch -x work.gdb /bin/true | sed 's/process [0-9]*/process/'"], prepare,
            "ptrace,waitpid,read,Py*", False, needs=["gdb"], processes=3)
