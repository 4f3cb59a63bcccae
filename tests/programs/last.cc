// SPDX-License-Identifier: MIT
// The last thing that a process does before it ends, or before something in it ends, is a call of inner():
// the one and only. Before it come some of leaf(). last WAY [NUMBER OF A SIGNAL]
//
// build: -lcalls
#include <dlfcn.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "tests/programs/calls.h"
#include "tests/programs/common.h"

namespace
{
const char *way;
const char *number;

// What comes last, whoever does it.
void last()
{
	leaf();
	inner(0);
}

struct Witness {
	~Witness()
	{
		last();
	}
};

void keep_witness()
{
	static thread_local Witness witness;

	(void)&witness;
}

pthread_key_t key;
int rounds;

// A value that is set anew brings another round of destructors (pthread_key_create(3)).
void destroy(void *value)
{
	leaf();
	if (++rounds < 3)
		pthread_setspecific(key, value);
	else
		inner(0);
}

void set_key()
{
	MUST(pthread_key_create(&key, destroy) == 0);
	MUST(pthread_setspecific(key, &key) == 0);
}

void registers_another()
{
	leaf();
	atexit(last);
}

void on_exit_do(int status, void *)
{
	printf("%d\n", status);
	last();
}

void *exits(void *)
{
	last();
	exit(21);
}

void *ends_at_once(void *)
{
	last();
	_exit(22);
}

void *keeps_key(void *unused)
{
	set_key();
	return unused;
}

void *keeps_witness(void *unused)
{
	keep_witness();
	return unused;
}

void *is_hot(void *unused)
{
	for (;;)
		through([](void *) { return 1; }, nullptr);
	return unused;
}

void *is_last(void *)
{
	usleep(20000);
	last();
	return nullptr;
}

void *waits(void *)
{
	last();
	for (;;)
		pause();
}

void exit_by_number()
{
	last();
	syscall(SYS_exit_group, 23);
}

// As a program without a C library does.
void exit_unseen()
{
	last();
	__asm__ volatile("syscall" : : "a"(SYS_exit_group), "D"(24) : "rcx", "r11", "memory");
}

void open_and_close()
{
	void *library = dlopen("libafter.so", RTLD_NOW);

	MUST(library != nullptr);
	dlclose(library);
}

void in_handler(int)
{
	last();
	_exit(25);
}

void execute(const char *path)
{
	last();
	execl(path, path, "exec", "2", nullptr);
}

void cancel_thread()
{
	pthread_t thread = thread_start(waits, nullptr);

	usleep(20000);
	pthread_cancel(thread);
	thread_join(thread);
}

void raise_number()
{
	last();
	signal(atoi(number), SIG_DFL);
	raise(atoi(number));
}

const struct {
	const char *name;
	void (*act)();
} ways[] = {
	{"main", last},
	{"tls", keep_witness},
	{"thread_tls", [] { thread_join(thread_start(keeps_witness, nullptr)); }},
	{"thread_key", [] { thread_join(thread_start(keeps_key, nullptr)); }},
	{"main_key",
		[] {
			set_key();
			pthread_exit(nullptr);
		}},
	{"atexit", [] { atexit(last); }},
	{"atexit_late", [] { atexit(registers_another); }},
	{"on_exit", [] { on_exit(on_exit_do, nullptr); }},
	{"at_quick_exit",
		[] {
			at_quick_exit(last);
			quick_exit(26);
		}},
	{"library", [] { MUST(dlopen("libafter.so", RTLD_NOW) != nullptr); }},
	{"library_closed", open_and_close},
	{"exit",
		[] {
			last();
			exit(27);
		}},
	{"_exit",
		[] {
			last();
			_exit(28);
		}},
	{"_Exit",
		[] {
			last();
			_Exit(29);
		}},
	{"exit_by_number", exit_by_number},
	{"exit_unseen", exit_unseen},
	{"thread_exit", [] { thread_join(thread_start(exits, nullptr)); }},
	{"thread__exit", [] { thread_join(thread_start(ends_at_once, nullptr)); }},
	{"thread_last",
		[] {
			thread_start(is_last, nullptr);
			pthread_exit(nullptr);
		}},
	{"thread_cancelled", cancel_thread},
	{"thread_hot",
		[] {
			pthread_detach(thread_start(is_hot, nullptr));
			usleep(20000);
			last();
		}},
	{"thread_waits",
		[] {
			pthread_detach(thread_start(waits, nullptr));
			usleep(20000);
		}},
	{"handler",
		[] {
			signal(SIGALRM, in_handler);
			raise(SIGALRM);
		}},
	{"exec", [] { execute("/proc/self/exe"); }},
	{"exec_true", [] { execute("/bin/true"); }},
	{"exec_fails",
		[] {
			execl("/nowhere", "/nowhere", nullptr);
			last();
		}},
	{"abort",
		[] {
			last();
			abort();
		}},
	{"signal", raise_number},
};
} // namespace

int main(int argc, char **argv)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	way = argc > 1 ? argv[1] : "main";
	number = argc > 2 ? argv[2] : "";
	setvbuf(stdout, nullptr, _IOLBF, 0);
	if (strcmp(number, "2") == 0 && strcmp(way, "exec") == 0)
		way = "main"; // what was executed
	leaf();
	for (const auto &one : ways)
		if (strcmp(one.name, way) == 0)
			one.act();
	puts("returns");
	return 20;
}
