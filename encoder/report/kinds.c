// SPDX-License-Identifier: MIT
// Kinds of functions: see kinds.h. Any context; pure. The rule: only names that the C library and the
// system's libraries define for this purpose; a name that merely sounds like it would make a report wrong.
#include "encoder/report/kinds.h"

#include <stddef.h>
#include <string.h>

struct known {
	const char *name;
	enum pft_kind kind;
};

static const struct known known[] = {
	{"pthread_mutex_lock", PFT_KIND_LOCK},
	{"pthread_mutex_timedlock", PFT_KIND_LOCK},
	{"pthread_mutex_clocklock", PFT_KIND_LOCK},
	{"__pthread_mutex_lock", PFT_KIND_LOCK},
	{"pthread_rwlock_rdlock", PFT_KIND_LOCK},
	{"pthread_rwlock_wrlock", PFT_KIND_LOCK},
	{"pthread_rwlock_timedrdlock", PFT_KIND_LOCK},
	{"pthread_rwlock_timedwrlock", PFT_KIND_LOCK},
	{"pthread_rwlock_clockrdlock", PFT_KIND_LOCK},
	{"pthread_rwlock_clockwrlock", PFT_KIND_LOCK},
	{"pthread_spin_lock", PFT_KIND_LOCK},
	{"mtx_lock", PFT_KIND_LOCK},
	{"mtx_timedlock", PFT_KIND_LOCK},
	{"flockfile", PFT_KIND_LOCK},
	{"flock", PFT_KIND_LOCK},
	{"lockf", PFT_KIND_LOCK},
	{"lockf64", PFT_KIND_LOCK},
	{"g_mutex_lock", PFT_KIND_LOCK},
	{"g_rec_mutex_lock", PFT_KIND_LOCK},
	{"g_rw_lock_reader_lock", PFT_KIND_LOCK},
	{"g_rw_lock_writer_lock", PFT_KIND_LOCK},

	{"pthread_cond_wait", PFT_KIND_WAIT},
	{"pthread_cond_timedwait", PFT_KIND_WAIT},
	{"pthread_cond_clockwait", PFT_KIND_WAIT},
	{"pthread_barrier_wait", PFT_KIND_WAIT},
	{"pthread_join", PFT_KIND_WAIT},
	{"pthread_timedjoin_np", PFT_KIND_WAIT},
	{"pthread_clockjoin_np", PFT_KIND_WAIT},
	{"cnd_wait", PFT_KIND_WAIT},
	{"cnd_timedwait", PFT_KIND_WAIT},
	{"thrd_join", PFT_KIND_WAIT},
	{"sem_wait", PFT_KIND_WAIT},
	{"sem_timedwait", PFT_KIND_WAIT},
	{"sem_clockwait", PFT_KIND_WAIT},
	{"semop", PFT_KIND_WAIT},
	{"semtimedop", PFT_KIND_WAIT},
	{"poll", PFT_KIND_WAIT},
	{"ppoll", PFT_KIND_WAIT},
	{"__poll_chk", PFT_KIND_WAIT},
	{"__ppoll_chk", PFT_KIND_WAIT},
	{"select", PFT_KIND_WAIT},
	{"pselect", PFT_KIND_WAIT},
	{"epoll_wait", PFT_KIND_WAIT},
	{"epoll_pwait", PFT_KIND_WAIT},
	{"epoll_pwait2", PFT_KIND_WAIT},
	{"wait", PFT_KIND_WAIT},
	{"wait3", PFT_KIND_WAIT},
	{"wait4", PFT_KIND_WAIT},
	{"waitid", PFT_KIND_WAIT},
	{"waitpid", PFT_KIND_WAIT},
	{"pause", PFT_KIND_WAIT},
	{"sigwait", PFT_KIND_WAIT},
	{"sigwaitinfo", PFT_KIND_WAIT},
	{"sigtimedwait", PFT_KIND_WAIT},
	{"sigsuspend", PFT_KIND_WAIT},
	{"g_cond_wait", PFT_KIND_WAIT},
	{"g_cond_wait_until", PFT_KIND_WAIT},
	{"std::condition_variable::wait", PFT_KIND_WAIT},
	{"std::thread::join", PFT_KIND_WAIT},

	{"sleep", PFT_KIND_SLEEP},
	{"usleep", PFT_KIND_SLEEP},
	{"nanosleep", PFT_KIND_SLEEP},
	{"clock_nanosleep", PFT_KIND_SLEEP},
	{"thrd_sleep", PFT_KIND_SLEEP},
	{"sched_yield", PFT_KIND_SLEEP},
	{"thrd_yield", PFT_KIND_SLEEP},
	{"g_usleep", PFT_KIND_SLEEP},

	{"read", PFT_KIND_IO},
	{"readv", PFT_KIND_IO},
	{"pread", PFT_KIND_IO},
	{"pread64", PFT_KIND_IO},
	{"preadv", PFT_KIND_IO},
	{"preadv2", PFT_KIND_IO},
	{"__read_chk", PFT_KIND_IO},
	{"__pread_chk", PFT_KIND_IO},
	{"__pread64_chk", PFT_KIND_IO},
	{"write", PFT_KIND_IO},
	{"writev", PFT_KIND_IO},
	{"pwrite", PFT_KIND_IO},
	{"pwrite64", PFT_KIND_IO},
	{"pwritev", PFT_KIND_IO},
	{"pwritev2", PFT_KIND_IO},
	{"open", PFT_KIND_IO},
	{"open64", PFT_KIND_IO},
	{"openat", PFT_KIND_IO},
	{"openat64", PFT_KIND_IO},
	{"__open_2", PFT_KIND_IO},
	{"__open64_2", PFT_KIND_IO},
	{"fopen", PFT_KIND_IO},
	{"fopen64", PFT_KIND_IO},
	{"fread", PFT_KIND_IO},
	{"fwrite", PFT_KIND_IO},
	{"fgets", PFT_KIND_IO},
	{"getline", PFT_KIND_IO},
	{"getdelim", PFT_KIND_IO},
	{"__getdelim", PFT_KIND_IO},
	{"fflush", PFT_KIND_IO},
	{"fclose", PFT_KIND_IO},
	{"fsync", PFT_KIND_IO},
	{"fdatasync", PFT_KIND_IO},
	{"sync", PFT_KIND_IO},
	{"syncfs", PFT_KIND_IO},
	{"sync_file_range", PFT_KIND_IO},
	{"msync", PFT_KIND_IO},
	{"fallocate", PFT_KIND_IO},
	{"posix_fallocate", PFT_KIND_IO},
	{"copy_file_range", PFT_KIND_IO},
	{"sendfile", PFT_KIND_IO},
	{"sendfile64", PFT_KIND_IO},
	{"splice", PFT_KIND_IO},
	{"readdir", PFT_KIND_IO},
	{"readdir64", PFT_KIND_IO},
	{"stat", PFT_KIND_IO},
	{"lstat", PFT_KIND_IO},
	{"fstatat", PFT_KIND_IO},
	{"unlink", PFT_KIND_IO},
	{"rename", PFT_KIND_IO},
	{"connect", PFT_KIND_IO},
	{"accept", PFT_KIND_IO},
	{"accept4", PFT_KIND_IO},
	{"recv", PFT_KIND_IO},
	{"recvfrom", PFT_KIND_IO},
	{"recvmsg", PFT_KIND_IO},
	{"recvmmsg", PFT_KIND_IO},
	{"__recv_chk", PFT_KIND_IO},
	{"__recvfrom_chk", PFT_KIND_IO},
	{"send", PFT_KIND_IO},
	{"sendto", PFT_KIND_IO},
	{"sendmsg", PFT_KIND_IO},
	{"sendmmsg", PFT_KIND_IO},
	{"getaddrinfo", PFT_KIND_IO},
	{"gethostbyname", PFT_KIND_IO},

	{"pftshim: ring full", PFT_KIND_RECORDER},
};

static const char *end_of(const char *name)
{
	while (*name != '\0' && *name != '(' && *name != '@')
		name++;
	return name;
}

// Behind the object's name, and for demangled C++ names before the parameters.
static size_t function_of(const char *name, const char **start)
{
	const char *object = strstr(name, ".so");
	const char *separator = object != NULL ? strstr(object, "::") : NULL;

	*start = separator != NULL ? separator + 2 : name;
	return (size_t)(end_of(*start) - *start);
}

enum pft_kind pft_kind_of(const char *name)
{
	const char *start;
	size_t size = function_of(name, &start);

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
		if (strncmp(known[i].name, start, size) == 0 && known[i].name[size] == '\0')
			return known[i].kind;
	return PFT_KIND_OTHER;
}

const char *pft_kind_name(enum pft_kind kind)
{
	static const char *const names[] = {"other", "lock", "wait", "sleep", "io", "recorder"};

	return names[kind];
}
