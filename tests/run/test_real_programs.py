# SPDX-License-Identifier: MIT
"""Programs that nobody wrote for this, each with a small real task: same output and status, sound traces. Their
files are compared as well, where they should be the same."""
import os

from harness import test
from real import compare, prose, text, write


@test
def xz_with_two_threads():
    compare(["xz", "-T2", "--block-size=256KiB", "-3", "prose.txt"], prose(1 << 20), "lzma_*,read,write", True)


@test
def zstd_with_two_threads():
    compare(["zstd", "-q", "-T2", "-B262144", "-9", "prose.txt"], prose(2 << 20), "pthread_*,fwrite,fread", True)


@test
def gzip_there():
    compare(["gzip", "-n", "-9", "prose.txt"], prose(1 << 20), "read,write,open*", True)


@test
def bzip2_to_a_pipe():
    compare(["bzip2", "-kc", "prose.txt"], prose(1 << 19), "BZ2_*", True)


QUERIES = """
create table city(id integer primary key, name text, people int);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
  insert into city select i, 'city ' || (i * 7919 % 20000), i * 31 % 1000 from n;
create index by_name on city(name);
select count(*), sum(people) from city where name like 'city 1%';
select a.name, b.name from city a join city b on a.people = b.id order by a.id desc limit 5;
select people / 100, count(*), avg(length(name)) from city group by 1 order by 1;
update city set people = people + 1 where id % 3 = 0;
delete from city where id % 7 = 0;
select sum(people) from city;
"""


@test
def sqlite3_under_a_query_load():
    compare(["sqlite3", "-bail", "cities.db", ".read queries.sql"],
            lambda directory: write(directory, "queries.sql", QUERIES), "sqlite3_*", True)


PYTHON = """
import hashlib, json, queue, re, subprocess, threading, zlib
work, done = queue.Queue(), []
def worker():
    while (item := work.get()) is not None:
        packed = zlib.compress(json.dumps([item] * 300).encode())
        done.append((item, hashlib.sha256(zlib.decompress(packed)).hexdigest()))
threads = [threading.Thread(target=worker, name="worker %d" % n) for n in range(4)]
for thread in threads: thread.start()
for item in range(200): work.put(item)
for thread in threads: work.put(None)
for thread in threads: thread.join()
print(len(done), hashlib.sha256(repr(sorted(done)).encode()).hexdigest())
print(subprocess.run(["sh", "-c", "echo child; exit 3"], capture_output=True))
try: re.compile("(")
except re.error as error: print(error)
"""


@test
def python3_with_threads_and_a_child():
    # A plain interpreter: version managers put a shell script of this name in front.
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3"
    compare([python, "-I", "work.py"], lambda directory: write(directory, "work.py", PYTHON),
            "deflate*,inflate*,pthread_cond*,PyEval_*,sem_*", False, processes=2)


GIT = """
set -e
git init -q -b main .
for n in 1 2 3 4 5; do
    sed -n "1,$((n * 20))p" prose.txt >part
    git add part prose.txt
    git commit -q -m "commit $n"
done
git log --stat --format='%h %an %s'
git gc -q
git checkout -q HEAD~2
git status --short
git fsck
"""


@test
def git_in_a_new_repository():
    def prepare(directory):
        write(directory, "prose.txt", text(20000))
        write(directory, "work.sh", GIT)
    who = {"GIT_%s_%s" % (role, what): value for role in ("AUTHOR", "COMMITTER")
           for what, value in (("NAME", "A"), ("EMAIL", "a@b"), ("DATE", "1700000000 +0000"))}
    env = {**who, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "HOME": "/nonexistent"}
    compare(["sh", "work.sh"], prepare, "deflate*,inflate*,open*,read,write", False, env, processes=10)


C = """
#include <stdio.h>
#include <math.h>
struct point { double x, y; };
static double length(struct point p) { return sqrt(p.x * p.x + p.y * p.y); }
int main(void) { for (int i = 0; i < 10; i++) printf("%f\\n", length((struct point){i, 3})); return 0; }
"""


@test
def gcc_and_what_it_makes():
    def prepare(directory):
        write(directory, "point.c", C)
        write(directory, "work.sh", "set -e\ngcc -O2 -o point point.c -lm\n./point\n")
    compare(["sh", "work.sh"], prepare, "open*,read,write,ht_*,lto_*", True, processes=5)


PERL = r"""
my %count; open(my $in, '<', 'prose.txt') or die; while (<$in>) { $count{$_}++ for split }
my @top = (sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count)[0..20];
print "$_ $count{$_}\n" for @top;
eval { die "thrown\n" }; print "caught $@";
$SIG{ALRM} = sub { print "alarm\n" }; kill 'ALRM', $$;
my $pid = fork; if (!$pid) { exit 5 } waitpid $pid, 0; print $? >> 8, "\n";
"""


@test
def perl_with_a_fork_and_a_signal():
    def prepare(directory):
        write(directory, "prose.txt", text(60000))
        write(directory, "work.pl", PERL)
    compare(["perl", "work.pl"], prepare, "Perl_sv_set*,read,open*,fork", True, processes=2)


BASH = """
set -o pipefail
sort prose.txt | uniq -c | sort -rn | sed -n '1,3s/^ *//p' && echo sorted
for i in 1 2 3; do ( exit $i ); echo $?; done
trap 'echo trapped' USR1; kill -USR1 $$; wait
cat < <(grep -c e prose.txt) & wait
diff <(head -5 prose.txt) <(tail -5 prose.txt) | wc -l
exec 7>file; echo seven >&7; exec 7>&-; cat file; ls -l /proc/self/fd | wc -l
"""


@test
def bash_pipelines():
    def prepare(directory):
        write(directory, "prose.txt", text(50000))
        write(directory, "work.bash", BASH)
    compare(["bash", "work.bash"], prepare, "read,write,fork,open*,regexec", True, processes=8)


@test
def openssl_digests_and_keys():
    def prepare(directory):
        write(directory, "prose.txt", text(1 << 20))
        write(directory, "work.sh", "set -e\nfor d in md5 sha1 sha256 sha512; do openssl dgst -$d prose.txt; done\n"
              "openssl enc -aes-256-ctr -K 00 -iv 00 -in prose.txt 2>/dev/null | openssl dgst -sha256\n"
              "openssl ecparam -name prime256v1 -genkey -noout | openssl ec -pubout 2>/dev/null | head -1\n")
    compare(["sh", "work.sh"], prepare, "EVP_*,EC_*,RAND_*", True, processes=6)


@test
def awk_over_a_file():
    compare(["awk", "{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) s += n[w] * length(w); print NR, s }",
             "prose.txt"], prose(200000), "read,fread,reg*", True)


@test
def find_in_a_tree_with_exec():
    def prepare(directory):
        for n in range(40):
            folder = os.path.join(directory, "a%d" % (n % 5), "b%d" % n)
            os.makedirs(folder)
            write(folder, "file%d" % n, "x" * n)
    compare(["sh", "-c", "find . -type f -name 'file*' -size -30c | sort; find . -name file7 -exec cat {} +"],
            prepare, "fts_*,open*,fnmatch", True, processes=4)


@test
def tar_and_back():
    def prepare(directory):
        write(directory, "prose.txt", text(300000))
        write(directory, "work.sh", "set -e\ntar -czf all.tgz --mtime=@0 prose.txt\nmkdir out\n"
              "tar -C out -xzf all.tgz\ncmp prose.txt out/prose.txt\ntar -tzf all.tgz\nrm all.tgz\n")
    compare(["sh", "work.sh"], prepare, "read,write,open*", True, processes=5)
