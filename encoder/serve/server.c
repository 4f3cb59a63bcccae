// SPDX-License-Identifier: MIT
// Connections and what is sent through them: see server.h. Browsers open connections that they may use later,
// so several are open while one is answered.
#include "encoder/serve/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "encoder/serve/request.h"

#define CLIENTS 8
#define STUCK_MS 30000 // a client that takes nothing for so long is given up

struct client {
	int fd; // -1: none
	size_t used;
	char head[PFT_REQUEST_MAX];
};

// ---- listening --------------------------------------------------------------------------------------

int pft_server_open(struct pft_server *server, uint16_t port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int error;

	if (fd < 0)
		return -errno;
	// Connections of an earlier server may linger on this port; another server may not.
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	if (bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, CLIENTS) == 0 &&
		getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
		server->listener = fd;
		server->port = ntohs(address.sin_port);
		return 0;
	}
	error = -errno;
	close(fd);
	return error;
}

void pft_server_close(struct pft_server *server)
{
	close(server->listener);
}

// ---- sending ----------------------------------------------------------------------------------------

static bool may_send(int fd)
{
	struct pollfd wait = {.fd = fd, .events = POLLOUT};

	return poll(&wait, 1, STUCK_MS) == 1;
}

static bool send_text(int fd, const struct pft_text *text)
{
	size_t done = 0;

	while (done < text->used) {
		ssize_t count =
			may_send(fd) ? send(fd, text->start + done, text->used - done, MSG_NOSIGNAL) : -1;

		if (count < 0 && errno != EINTR && errno != EAGAIN)
			return false;
		done += count > 0 ? (size_t)count : 0;
	}
	return true;
}

static bool send_file(int fd, int file, uint64_t size)
{
	off_t at = 0;

	while ((uint64_t)at < size) {
		ssize_t count = may_send(fd) ? sendfile(fd, file, &at, size - (uint64_t)at) : 0;

		if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN))
			return false;
	}
	return true;
}

// Whether the client has taken everything: it closes its end then.
static bool is_taken(int fd)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	char rest[256];
	ssize_t count;

	shutdown(fd, SHUT_WR);
	do {
		count = poll(&wait, 1, STUCK_MS) == 1 ? recv(fd, rest, sizeof rest, 0) : -1;
	} while (count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN)));
	return count == 0;
}

// Whether that was the file, as a whole.
static bool answer(const struct pft_server *server, int fd, enum pft_request request)
{
	struct stat found = {0};
	char head[1024];
	struct pft_text text = pft_text_in(head, sizeof head);

	if (fstat(server->file, &found) != 0)
		return false;
	pft_request_add_answer(&text, request, server->origin, (uint64_t)found.st_size);
	if (!send_text(fd, &text))
		return false;
	return request == PFT_REQUEST_GET && send_file(fd, server->file, (uint64_t)found.st_size) &&
	       is_taken(fd);
}

// ---- clients ----------------------------------------------------------------------------------------

static void drop(struct client *client)
{
	close(client->fd);
	client->fd = -1;
	client->used = 0;
}

// A free place, or that of the one that came first.
static void accept_client(const struct pft_server *server, struct client *clients, size_t *next)
{
	int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (clients[*next].fd >= 0)
		drop(&clients[*next]);
	clients[*next].fd = fd;
	*next = (*next + 1) % CLIENTS;
}

// Whether the client has fetched the file.
static bool hear(const struct pft_server *server, struct client *client)
{
	ssize_t count = recv(client->fd, client->head + client->used, sizeof client->head - client->used, 0);
	enum pft_request request;
	bool fetched;

	if (count < 0 && (errno == EINTR || errno == EAGAIN))
		return false;
	if (count <= 0) {
		drop(client);
		return false;
	}
	client->used += (size_t)count;
	request = pft_request_of(client->head, client->used, server->path);
	if (request == PFT_REQUEST_PARTIAL)
		return false;
	fetched = answer(server, client->fd, request);
	drop(client);
	return fetched;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// Waits until a client or a new one has something to say, the latter in the last place. False at the
// deadline.
static bool wait_for(const struct pft_server *server, const struct client *clients, uint64_t deadline_ms,
	struct pollfd *polled)
{
	uint64_t now = now_ms();

	for (size_t i = 0; i < CLIENTS; i++)
		polled[i] = (struct pollfd){.fd = clients[i].fd, .events = POLLIN};
	polled[CLIENTS] = (struct pollfd){.fd = server->listener, .events = POLLIN};
	return now < deadline_ms &&
	       (poll(polled, CLIENTS + 1, (int)(deadline_ms - now)) > 0 || errno == EINTR);
}

bool pft_server_run(struct pft_server *server, uint64_t timeout_s)
{
	static struct client clients[CLIENTS];
	uint64_t deadline_ms = now_ms() + timeout_s * 1000;
	struct pollfd polled[CLIENTS + 1];
	bool fetched = false;
	size_t next = 0;

	for (size_t i = 0; i < CLIENTS; i++)
		clients[i].fd = -1;
	errno = 0;
	while (!fetched && wait_for(server, clients, deadline_ms, polled)) {
		for (size_t i = 0; i < CLIENTS && !fetched; i++)
			if (polled[i].revents)
				fetched = hear(server, &clients[i]);
		if (polled[CLIENTS].revents)
			accept_client(server, clients, &next);
	}
	for (size_t i = 0; i < CLIENTS; i++)
		if (clients[i].fd >= 0)
			drop(&clients[i]);
	return fetched;
}
