# SPDX-License-Identifier: MIT
"""Servers under load with their clients, and programs with a window: each starts, works and ends within one script, in
a private directory, on ports that were free."""
import os
import subprocess

from harness import NotApplicable, fresh_directory, slow
from real import compare, free_port, need, nothing, prose, write

SH = "set -e\nPATH=$PATH:/usr/sbin:/sbin\nstop() { kill $server; wait $server 2>/dev/null || :; }\n"
AWAIT = "n=0; until %s; do n=$((n + 1)); [ $n -lt 200 ] || exit 9; sleep 0.1; done\n"


def script(body, prepare=nothing):
    """Prepares work.sh; PORT in it becomes a free one."""
    def prepare_all(directory):
        prepare(directory)
        write(directory, "work.sh", SH + body.replace("PORT", str(free_port())))
    return prepare_all


def serves(body, funcs, needs, prepare=nothing, processes=3, **more):
    compare(["sh", "work.sh"], script(body, prepare), funcs, False, needs=needs, processes=processes, **more)


# ---- web ----

LOAD = (AWAIT % "curl -s -o /dev/null http://127.0.0.1:PORT/prose.txt" +
        "ab -q -n 300 -c 8 http://127.0.0.1:PORT/prose.txt 2>/dev/null | grep -E '^(Complete|Failed|Document Length)'\n"
        "curl -s http://127.0.0.1:PORT/prose.txt | cmp - prose.txt\nwget -q -O - http://127.0.0.1:PORT/none || echo none\n"
        "stop\n")

NGINX = """
worker_processes 2; daemon off; pid nginx.pid; error_log stderr crit; events { worker_connections 64; }
http { access_log off; client_body_temp_path b; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
  server { listen 127.0.0.1:PORT; root .; gzip on; gzip_types text/plain; } }
"""


@slow
def nginx_under_load():
    serves("cat >nginx.conf <<'END'\n%s\nEND\nchmod 755 . ..\nnginx -p $PWD -c nginx.conf -e stderr &\nserver=$!\n%s" % (NGINX, LOAD),
           "read,write,epoll_*,ngx_*,recv,send*", ["curl", "ab", "wget", "/usr/sbin/nginx"], prose(50000))


APACHE = """
ServerRoot $PWD
ServerName localhost
Listen 127.0.0.1:PORT
PidFile httpd.pid
DefaultRuntimeDir .
ErrorLog /dev/null
Mutex file:. default
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
DocumentRoot $PWD
"""


@slow
def apache_under_load():
    serves("cat >httpd.conf <<END\n%s\nEND\nchmod 755 . ..\napache2 -f $PWD/httpd.conf -DFOREGROUND &\nserver=$!\n%s" % (APACHE, LOAD),
           "read,write,epoll_*,apr_*,ap_*", ["curl", "ab", "wget", "/usr/sbin/apache2"], prose(50000))


@slow
def python_serves_curl_and_wget():
    serves("/usr/bin/python3 -m http.server -b 127.0.0.1 PORT >/dev/null 2>&1 &\nserver=$!\n" +
           LOAD.replace("-n 300", "-n 50"), "read,write,recv*,send*", ["curl", "ab", "wget"], prose(50000))


# ---- databases ----


@slow
def redis_under_load():
    serves("redis-server --port PORT --bind 127.0.0.1 --save '' --dir . --loglevel warning >/dev/null &\nserver=$!\n" +
           AWAIT % "redis-cli -p PORT ping >/dev/null 2>&1" +
           "redis-benchmark -p PORT -n 2000 -c 10 -q -t set,get,lpush >/dev/null\n"
           "redis-cli -p PORT set a 1; redis-cli -p PORT incr a; redis-cli -p PORT eval 'return 2 + ARGV[1]' 0 3\n"
           "redis-cli -p PORT bgsave >/dev/null; redis-cli -p PORT dbsize\nredis-cli -p PORT shutdown nosave\nwait $server || :\n",
           "read,write,epoll_*,lua_*,je_*", ["redis-server", "redis-cli"])


NOBODY = 65534
POSTGRESQL = "/usr/lib/postgresql/15/bin"
SQL = """
create table t (n int primary key, s text);
insert into t select n, md5(n::text) from generate_series(1, 20000) n;
create index on t (s);
select count(*), min(s), max(s), sum(length(s)) from t where s < '8';
select t.n from t join t u on t.n = u.n * 2 where u.n < 5 order by 1;
do $$ begin perform 1/0; exception when division_by_zero then raise notice 'caught'; end $$;
"""


@slow
def postgresql_with_its_client():
    if os.geteuid() != 0:
        raise NotApplicable("root only: it becomes somebody else, as PostgreSQL demands")
    serves("PATH=$PATH:%s\ninitdb -D data -A trust -E UTF8 --locale=C -N >/dev/null\n"
           "export PGHOST=$PWD PGPORT=PORT PGDATABASE=postgres PGDATA=data\n"
           "postgres -k $PWD -c listen_addresses= -F 2>/dev/null &\n" % POSTGRESQL +
           AWAIT % "psql -q -c 'select 1' >/dev/null 2>&1" +
           "psql -v ON_ERROR_STOP=1 -q -A -t <<'END'\n%s\nEND\n" % SQL +
           "pgbench -i -q >/dev/null 2>&1\npgbench -c 4 -j 2 -t 50 2>/dev/null | grep -E 'processed|failed'\n"
           "pg_ctl -m fast -w stop >/dev/null\nwait\n",
           "read,write,recv,send,epoll_wait,pg_*,PQ*", [POSTGRESQL + "/initdb", "psql"], processes=20, user=NOBODY)


# ---- windows ----

PAGE = """<html><body><div id=a>plain</div><script>
const made = [1, 2, 3].map(n => n * n); let sum = 0; for (let i = 0; i < 1e6; i++) sum += i % 7;
document.getElementById('a').textContent = 'made by a script: ' + made + ', ' + sum;</script></body></html>
"""


@slow
def chromium_runs_a_page_of_scripts():
    serves("chromium --headless --no-sandbox --disable-gpu --user-data-dir=$PWD/user --dump-dom file://$PWD/page.html 2>/dev/null\n",
           "read,write,sendmsg,recvmsg,pthread_*,epoll_wait", ["chromium"], lambda where: write(where, "page.html", PAGE))


QT = r"""
#include <QtWidgets>
int main(int count, char **arguments) {
    QApplication program(count, arguments);
    QWidget window; QVBoxLayout lines(&window); QPushButton button("press"); QLabel label("label"); QLineEdit field;
    lines.addWidget(&button); lines.addWidget(&label); lines.addWidget(&field);
    int pressed = 0;
    QObject::connect(&button, &QPushButton::clicked, [&] { pressed++; label.setText(QString::number(pressed)); });
    window.resize(200, 150); window.show();
    QTimer::singleShot(200, [&] { button.click(); button.click(); field.setText("written"); });
    QTimer::singleShot(600, [&] {
        printf("%d %s %s %d\n", pressed, qPrintable(label.text()), qPrintable(field.text()),
            window.grab().toImage().pixelColor(5, 5).isValid());
        program.quit(); });
    return program.exec();
}
"""


@slow
def a_qt_program_draws_and_quits():
    need("xvfb-run", "g++", "pkg-config", "/usr/lib/x86_64-linux-gnu/libQt5Widgets.so")
    where = fresh_directory()
    write(where, "work.cc", QT)
    subprocess.run(["sh", "-c", "g++ -fPIC -o work work.cc $(pkg-config --cflags --libs Qt5Widgets)"], cwd=where, check=True)
    serves("QT_LOGGING_RULES='*=false' xvfb-run -a %s/work 2>/dev/null\n" % where,
           "read,write,poll,QWidget::*,pthread_*", ["xvfb-run"])


@slow
def a_gtk_program_draws_and_quits():
    serves("xvfb-run -a zenity --info --text=text --timeout=1 2>/dev/null || echo $?\n", "g_main_*,gtk_*,read,poll",
           ["xvfb-run", "zenity"])
