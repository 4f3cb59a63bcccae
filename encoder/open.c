// SPDX-License-Identifier: MIT
// pft-open [--viewer=URL] [--port=N] [--timeout=SECONDS] [--title=NAME] [--no-browser] TRACE: hands a trace
// over to the viewer in a browser, which fetches it from here: the way that the viewer documents
// (perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui). Called by `pft open`. The rule: what is
// served is this one file, on the loopback address, under a path that nobody can guess, until it was fetched
// once.
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "encoder/fail.h"
#include "encoder/read/packets.h"
#include "encoder/serve/server.h"

#define VIEWER "https://ui.perfetto.dev"
#define PORT 9001 // the only one of this machine that the viewer's content security policy lets it reach
#define TIMEOUT_S 300

struct wish {
	const char *viewer;
	const char *title; // instead of the trace's name
	uint64_t port, timeout_s;
	bool no_browser;
};

// ---- options ----------------------------------------------------------------------------------------

static uint64_t number_named(const char *option, const char *text, uint64_t most)
{
	char *end;
	unsigned long long number = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || number > most)
		pft_fail(PFT_REFUSED, "%s=%s: is not a number up to %llu", option, text,
			(unsigned long long)most);
	return number;
}

// Bytes of the scheme; 0 when it is none that a viewer may have.
static size_t scheme_bytes(const char *url)
{
	static const char *const schemes[] = {"https://", "http://"};

	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
		if (strncmp(url, schemes[i], strlen(schemes[i])) == 0)
			return strlen(schemes[i]);
	return 0;
}

// Scheme, host and port of a URL, which is what a browser calls an origin.
static char *origin_of(const char *url)
{
	size_t scheme = scheme_bytes(url), host = strcspn(url + scheme, "/?#");
	char *origin;

	if (scheme == 0 || host == 0 || url[strcspn(url, " \t\r\n\"<>\\")] != '\0')
		pft_fail(PFT_REFUSED, "--viewer=%s: is not a URL like " VIEWER, url);
	origin = strndup(url, scheme + host);
	if (!origin)
		pft_fail(PFT_FAILED, "out of memory");
	return origin;
}

// ---- the trace --------------------------------------------------------------------------------------

static enum pft_packet_answer take_first(void *user, const uint8_t *bytes, size_t size)
{
	(void)user;
	(void)bytes;
	(void)size;
	return PFT_PACKET_ENOUGH;
}

// JSON is recognized by its first character, as viewers do it.
static const char *wrong_with(int fd)
{
	struct pft_packets_in packets = {.function = take_first};
	struct stat found;
	char first;

	if (fstat(fd, &found) != 0)
		return strerror(errno);
	if (S_ISDIR(found.st_mode))
		return "is a directory";
	if (!S_ISREG(found.st_mode))
		return "is no regular file";
	if (pread(fd, &first, 1, 0) == 1 && (first == '{' || first == '['))
		return NULL;
	return pft_packets_read(&packets, fd);
}

static int open_trace(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const char *wrong = fd < 0 ? strerror(errno) : wrong_with(fd);

	if (wrong)
		pft_fail(PFT_REFUSED, "%s: %s", path, wrong);
	return fd;
}

// "/{128 random bits}/{name}"; the viewer shows the name. Of that only what needs no escape in a URL stays.
static char *path_of(const char *trace)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	const char *slash = strrchr(trace, '/');
	uint64_t bits[2];
	char *path;

	if (getrandom(bits, sizeof bits, 0) != sizeof bits)
		pft_fail(PFT_FAILED, "no random numbers: %s", strerror(errno));
	if (asprintf(&path, "/%016llx%016llx/%s", (unsigned long long)bits[0], (unsigned long long)bits[1],
		    slash ? slash + 1 : trace) < 0)
		pft_fail(PFT_FAILED, "out of memory");
	for (char *c = strrchr(path, '/') + 1; *c; c++)
		if (!strchr(plain, *c))
			*c = '_';
	return path;
}

// ---- the browser ------------------------------------------------------------------------------------

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

// Its parent does not wait for it, so that a browser that stays in the foreground does not hold us up.
static void start_browser(const char *address)
{
	pid_t child = fork();
	int nowhere;

	if (child != 0)
		return;
	nowhere = open("/dev/null", O_RDWR);
	for (int fd = 0; nowhere >= 0 && fd <= 2; fd++)
		dup2(nowhere, fd);
	close_range(3, ~0U, 0);
	setsid();
	execlp("xdg-open", "xdg-open", address, (char *)NULL);
	_exit(127);
}

// ---- all of it --------------------------------------------------------------------------------------

static void listen_to(struct pft_server *server, uint16_t port)
{
	int error = pft_server_open(server, port);

	if (error == -EADDRINUSE)
		pft_fail(PFT_FAILED,
			"port %u of this machine is in use, perhaps by another pft open or by "
			"trace_processor; "
			"the viewer reaches no other",
			port);
	if (error < 0)
		pft_fail(PFT_FAILED, "127.0.0.1:%u: %s", port, strerror(-error));
}

static int hand_over(const char *trace, const struct wish *wish)
{
	const char *title = wish->title ? wish->title : trace;
	struct pft_server server = {
		.file = open_trace(trace), .path = path_of(title), .origin = origin_of(wish->viewer)};
	char *address;

	listen_to(&server, (uint16_t)wish->port);
	if (asprintf(&address, "%s/#!/?url=http://127.0.0.1:%u%s", wish->viewer, server.port, server.path) <
		0)
		pft_fail(PFT_FAILED, "out of memory");
	puts(address);
	fflush(stdout);
	if (!wish->no_browser && (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")))
		start_browser(address);
	else
		fputs("pft: open this address in a browser on this machine\n", stderr);
	if (!pft_server_run(&server, wish->timeout_s))
		pft_fail(PFT_FAILED, "%s: was not fetched within %llu s", title,
			(unsigned long long)wish->timeout_s);
	fputs("pft: the viewer has fetched the trace\n", stderr);
	pft_server_close(&server);
	return 0;
}

int main(int count, char **arguments)
{
	static const struct option options[] = {{"viewer", required_argument, NULL, 'v'},
		{"port", required_argument, NULL, 'p'}, {"timeout", required_argument, NULL, 't'},
		{"title", required_argument, NULL, 'i'}, {"no-browser", no_argument, NULL, 'n'},
		{NULL, 0, NULL, 0}};
	struct wish wish = {.viewer = VIEWER, .port = PORT, .timeout_s = TIMEOUT_S};
	int option;

	opterr = 0;
	while ((option = getopt_long(count, arguments, "", options, NULL)) >= 0) {
		if (option == 'v' && optarg != NULL)
			wish.viewer = optarg;
		else if (option == 'p')
			wish.port = number_named("--port", optarg, UINT16_MAX);
		else if (option == 't')
			wish.timeout_s = number_named("--timeout", optarg, 86400);
		else if (option == 'i')
			wish.title = optarg;
		else if (option == 'n')
			wish.no_browser = true;
		else
			pft_fail(PFT_REFUSED, "%s: no such option, or it lacks its value; see pft open -h",
				arguments[optind - 1]);
	}
	if (optind != count - 1)
		pft_fail(PFT_REFUSED, "%s; see pft open -h",
			optind < count ? "one trace at a time" : "no trace is given");
	return hand_over(arguments[optind], &wish);
}
