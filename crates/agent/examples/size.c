/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sends BYTES to ADDRESS PORT over a connection with that size as its hint, and prints what the
 * agent knows of the path. Works the same where no agent runs, and prints so.
 *
 * 	cc -I../include size.c -o size && ./size 192.0.2.1 9000 30000 */
#include "headstart.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int say(int fd, int option, uint32_t value)
{
	return setsockopt(fd, IPPROTO_TCP, option, &value, sizeof(value));
}

static int transfer(int fd, uint32_t bytes)
{
	char block[4096];
	ssize_t sent;

	memset(block, 'x', sizeof(block));
	while (bytes) {
		sent = write(fd, block, bytes < sizeof(block) ? bytes : sizeof(block));
		if (sent < 0)
			return fail("write");
		bytes -= sent;
	}
	/* Until the other end has read all and closes. */
	shutdown(fd, SHUT_WR);
	return read(fd, block, sizeof(block)) < 0 ? fail("read") : 0;
}

int main(int argc, char **argv)
{
	struct sockaddr_in to = {.sin_family = AF_INET};
	struct headstart_path path;
	socklen_t length = sizeof(path);
	uint32_t bytes;
	int fd;

	if (argc != 4 || inet_pton(AF_INET, argv[1], &to.sin_addr) != 1) {
		fprintf(stderr, "usage: size ADDRESS PORT BYTES\n");
		return 2;
	}
	to.sin_port = htons(atoi(argv[2]));
	bytes = strtoul(argv[3], NULL, 10);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return fail("connect");

	if (say(fd, HEADSTART_SIZE, bytes) && errno != ENOPROTOOPT)
		return fail("HEADSTART_SIZE");
	if (say(fd, HEADSTART_WEIGHT, 3) && errno != ENOPROTOOPT)
		return fail("HEADSTART_WEIGHT");
	if (transfer(fd, bytes))
		return 1;

	if (!getsockopt(fd, IPPROTO_TCP, HEADSTART_SIZE, &path, &length))
		printf("began with %u, remembered %u, weight %u\n", path.first_window, path.remembered,
		       path.weight);
	else if (errno == ENOPROTOOPT)
		printf("no agent\n");
	else
		return fail("getsockopt");
	return 0;
}
