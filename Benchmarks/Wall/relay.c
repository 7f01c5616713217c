// SPDX-License-Identifier: MIT
//
// A relay for TCP connections that limits the rate and adds delay.
//
//     relay TARGET-PORT BITS-PER-SECOND ROUND-TRIP-MILLISECONDS
//
// Listens on a free port of the loopback address, which it prints, and forwards each connection to the target port. A
// rate of 0 means no limit. Each direction has one token bucket, which all connections share, and a delay line of half
// the round trip. The data of a client waits for one more round trip after the connection was accepted, because a real
// handshake takes that time. SIGTERM ends the relay, which then prints the number of bytes from the target, the number
// of bytes from the clients, and the number of connections.
//
// The relay models neither loss nor slow start. It reads from the target only as fast as the rate, through a small
// receive buffer, so that the server and not the relay decides about the order of the responses.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { quantum = 2896, chunk = 65536, most_connections = 4096 };

struct block {
  struct block *next;
  long long release;  // Nanoseconds of the monotonic clock.
  int length, offset;  // A length of 0 ends the stream.
  char bytes[];
};

// One direction of a connection.
struct line {
  struct block *first, *last;
  int from, to;
  int is_readable, is_writable, has_ended;
};

struct connection {
  struct connection *next;
  struct line up, down;
  long long accepted;
  int client, target, is_closed;
};

// One end of a connection, which is the data of its epoll event.
struct end {
  struct connection *connection;
  int is_client;
};

struct bucket {
  long long free;  // The time at which the link has sent everything.
  unsigned long long bytes;
};

static struct connection *connections;
static struct connection *turn;  // The connection from whose target the relay reads next.
static struct bucket up, down;
static long long rate, trip;
static unsigned long long accepted_count;
static volatile sig_atomic_t stops;

static void on_signal(int number) { stops = number; }

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void push(struct line *line, const char *bytes, int length, long long release) {
  struct block *block = malloc(sizeof *block + length);
  if (!block) fail("malloc");
  *block = (struct block){.release = release, .length = length};
  if (length) memcpy(block->bytes, bytes, length);
  if (line->last) line->last->next = block; else line->first = block;
  line->last = block;
}

static void drop(struct line *line) {
  while (line->first) {
    struct block *next = line->first->next;
    free(line->first);
    line->first = next;
  }
  line->last = NULL;
}

static void close_connection(struct connection *connection) {
  if (connection->is_closed) return;
  connection->is_closed = 1;
  close(connection->client);
  close(connection->target);
  drop(&connection->up);
  drop(&connection->down);
}

// Reads one portion of a line. Returns whether it read something.
static int take(struct connection *connection, struct line *line, struct bucket *bucket, long long time) {
  static char bytes[chunk];
  if (connection->is_closed || line->has_ended || !line->is_readable) return 0;
  ssize_t count = read(line->from, bytes, rate ? quantum : chunk);
  if (count < 0) {
    if (errno == EAGAIN || errno == EINTR) line->is_readable = 0; else close_connection(connection);
    return 0;
  }
  long long start = time;
  if (line == &connection->up && start < connection->accepted + trip) start = connection->accepted + trip;
  if (rate && count) {
    if (bucket->free < time) bucket->free = time;
    bucket->free += count * 8000000000LL / rate;
    if (start < bucket->free) start = bucket->free;
  }
  bucket->bytes += count;
  push(line, bytes, (int)count, start + trip / 2);
  if (count == 0) line->has_ended = 1;
  return 1;
}

// Reads from all connections in turn until the link is busy for two milliseconds.
static void take_all(struct bucket *bucket, int is_up, long long time) {
  for (int any = 1; any;) {
    any = 0;
    struct connection *begin = turn && !is_up ? turn : connections, *each = begin;
    if (!each) return;
    do {
      if (rate && bucket->free > time + 2000000) {
        if (!is_up) turn = each;
        return;
      }
      any |= take(each, is_up ? &each->up : &each->down, bucket, time);
      each = each->next ? each->next : connections;
    } while (each != begin);
  }
  if (!is_up) turn = NULL;
}

static void give(struct connection *connection, struct line *line, long long time) {
  while (!connection->is_closed && line->first && line->first->release <= time && line->is_writable) {
    struct block *block = line->first;
    if (block->length == 0) {
      shutdown(line->to, SHUT_WR);
    } else {
      ssize_t count = send(line->to, block->bytes + block->offset, block->length - block->offset, MSG_NOSIGNAL);
      if (count < 0) {
        if (errno == EAGAIN || errno == EINTR) line->is_writable = 0; else close_connection(connection);
        return;
      }
      block->offset += (int)count;
      if (block->offset < block->length) continue;
    }
    line->first = block->next;
    if (!line->first) line->last = NULL;
    free(block);
  }
  if (connection->up.has_ended && connection->down.has_ended && !connection->up.first && !connection->down.first)
    close_connection(connection);
}

// Frees closed connections. Their descriptors are closed, so no later event concerns them.
static void prune(void) {
  for (struct connection **link = &connections; *link;) {
    struct connection *each = *link;
    if (!each->is_closed) {
      link = &each->next;
      continue;
    }
    *link = each->next;
    if (turn == each) turn = NULL;
    free(each);
  }
}

static void watch(int poll, int socket, struct connection *connection, int is_client) {
  struct end *end = malloc(sizeof *end);  // It lives as long as the process, because events can be late.
  if (!end) fail("malloc");
  *end = (struct end){connection, is_client};
  struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = end};
  if (epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event)) fail("epoll_ctl");
}

static void accept_all(int poll, int listener, int port) {
  for (;;) {
    int client = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (client < 0) return;
    int target = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct connection *connection = calloc(1, sizeof *connection);
    if (target < 0 || !connection) fail("socket");
    int yes = 1, segment = 1460, buffer = 65536;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(target, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (rate) {
      setsockopt(target, IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment);
      setsockopt(target, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    }
    struct sockaddr_in address = {AF_INET, htons(port), {htonl(INADDR_LOOPBACK)}, {0}};
    if (connect(target, (struct sockaddr *)&address, sizeof address) && errno != EINPROGRESS) fail("connect");
    *connection = (struct connection){.next = connections, .accepted = now(), .client = client, .target = target,
      .up = {.from = client, .to = target, .is_readable = 1}, .down = {.from = target, .to = client}};
    connections = connection;
    accepted_count += 1;
    watch(poll, client, connection, 1);
    watch(poll, target, connection, 0);
  }
}

// Returns the number of milliseconds until the next block or the next free moment of the link.
static int patience(long long time) {
  long long next = time + 1000000000;
  for (struct connection *each = connections; each; each = each->next) {
    if (each->is_closed) continue;
    if (each->up.first && each->up.is_writable && each->up.first->release < next) next = each->up.first->release;
    if (each->down.first && each->down.is_writable && each->down.first->release < next)
      next = each->down.first->release;
    if (rate && each->down.is_readable && !each->down.has_ended && down.free - 1000000 < next)
      next = down.free - 1000000;
    if (rate && each->up.is_readable && !each->up.has_ended && up.free - 1000000 < next) next = up.free - 1000000;
  }
  return next <= time ? 0 : (int)((next - time + 999999) / 1000000);
}

int main(int count, char **words) {
  if (count != 4) return fprintf(stderr, "usage: relay TARGET-PORT BITS-PER-SECOND ROUND-TRIP-MILLISECONDS\n"), 64;
  int port = atoi(words[1]);
  rate = atoll(words[2]);
  trip = atoll(words[3]) * 1000000;
  struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), poll = epoll_create1(EPOLL_CLOEXEC);
  struct sockaddr_in address = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {0}};
  socklen_t size = sizeof address;
  if (listener < 0 || poll < 0 || bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1024) ||
      getsockname(listener, (struct sockaddr *)&address, &size))
    fail("listen");
  watch(poll, listener, NULL, 0);
  printf("%d\n", ntohs(address.sin_port));
  fflush(stdout);
  while (!stops) {
    struct epoll_event events[256];
    int ready = epoll_wait(poll, events, 256, patience(now()));
    for (int index = 0; index < ready; index++) {
      struct end *end = events[index].data.ptr;
      struct connection *connection = end->connection;
      if (!connection) {
        accept_all(poll, listener, port);
        continue;
      }
      struct line *in = end->is_client ? &connection->up : &connection->down;
      struct line *out = end->is_client ? &connection->down : &connection->up;
      if (events[index].events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) in->is_readable = 1;
      if (events[index].events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) out->is_writable = 1;
    }
    long long time = now();
    take_all(&up, 1, time);
    take_all(&down, 0, time);
    time = now();
    for (struct connection *each = connections; each; each = each->next) {
      give(each, &each->up, time);
      give(each, &each->down, time);
    }
    prune();
  }
  printf("%llu %llu %llu\n", down.bytes, up.bytes, accepted_count);
  return 0;
}
