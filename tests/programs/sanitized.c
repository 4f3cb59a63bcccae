// SPDX-License-Identifier: MIT
// Threads, locks, allocation, strings, a child and a handler: what the sanitizers interpose. The tests build
// it anew with each of them. With the name of a mistake it makes that as well.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS 500

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static long guarded, unguarded;
static const char *mistake = "none";
static volatile sig_atomic_t handled;

static void handle(int signal)
{
	handled = signal;
}

static void *work(void *argument)
{
	getpgid(0);
	pthread_setspecific(key, strdup(argument));
	for (int i = 0; i < ROUNDS; i++) {
		char *copy = strdup(argument);

		pthread_mutex_lock(&lock);
		guarded += (long)strlen(copy);
		pthread_mutex_unlock(&lock);
		if (strcmp(mistake, "race") == 0)
			unguarded++;
		free(copy);
	}
	return argument;
}

static void make_mistake(void)
{
	char *volatile memory = malloc(10);
	volatile int most = 0x7fffffff;

	memset(memory, 1, 10);
	if (strcmp(mistake, "overflow") == 0)
		memory[10] = 1;
	if (strcmp(mistake, "integer") == 0)
		most = most + 1;
	if (strcmp(mistake, "leak") == 0)
		memory = NULL;
	if (strcmp(mistake, "unset") == 0) {
		free(memory);
		memory = malloc(10);
		if (memory[3] == 'x')
			puts("x");
	}
	free(memory);
}

int main(int count, char **arguments)
{
	pthread_t threads[THREADS];
	char line[64];
	int status = 0;
	pid_t child;

	if (count > 1)
		mistake = arguments[1];
	pthread_key_create(&key, free);
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, "four");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	child = fork();
	if (child == 0)
		exit(7);
	waitpid(child, &status, 0);
	snprintf(line, sizeof(line), "%ld %d %d", guarded, handled, WEXITSTATUS(status));
	puts(line);
	make_mistake();
	return 0;
}
