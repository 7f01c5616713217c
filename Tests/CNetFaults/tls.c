// SPDX-License-Identifier: MIT
#include "CNetFaults.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

struct wi_tls_server {
    SSL_CTX *context;
};

struct wi_tls_connection {
    SSL *ssl;
};

static int choose(SSL *ssl, const unsigned char **out, unsigned char *length, const unsigned char *in,
                  unsigned int count, void *context) {
    static const unsigned char mine[] = "\x02h2\x08http/1.1";
    (void)ssl, (void)context;
    int result = SSL_select_next_proto((unsigned char **)out, length, mine, sizeof mine - 1, in, count);
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

wi_tls_server *wi_tls_server_create(const char *certificate, const char *key) {
    // OpenSSL writes without MSG_NOSIGNAL.
    signal(SIGPIPE, SIG_IGN);
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    wi_tls_server *server = context ? malloc(sizeof *server) : NULL;
    if (!server || SSL_CTX_use_certificate_chain_file(context, certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) {
        SSL_CTX_free(context);
        free(server);
        return NULL;
    }
    SSL_CTX_set_alpn_select_cb(context, choose, NULL);
    server->context = context;
    return server;
}

static bool verify(wi_tls_server *server, const char *authority, int mode) {
    if (SSL_CTX_load_verify_locations(server->context, authority, NULL) != 1) {
        ERR_clear_error();
        return false;
    }
    SSL_CTX_set_verify(server->context, mode, NULL);
    // Without a context, OpenSSL rejects resumed sessions of clients without a certificate.
    const unsigned char name[] = "test";
    return SSL_CTX_set_session_id_context(server->context, name, sizeof name) == 1;
}

bool wi_tls_server_require_certificate(wi_tls_server *server, const char *authority) {
    return verify(server, authority, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT);
}

bool wi_tls_server_request_certificate(wi_tls_server *server, const char *authority) {
    return verify(server, authority, SSL_VERIFY_PEER);
}

bool wi_tls_server_limit_version(wi_tls_server *server) {
    return SSL_CTX_set_max_proto_version(server->context, TLS1_2_VERSION) == 1;
}

void wi_tls_server_destroy(wi_tls_server *server) {
    if (!server) return;
    SSL_CTX_free(server->context);
    free(server);
}

wi_tls_connection *wi_tls_accept(wi_tls_server *server, int descriptor) {
    SSL *ssl = SSL_new(server->context);
    if (!ssl || SSL_set_fd(ssl, descriptor) != 1 || SSL_accept(ssl) != 1) {
        ERR_clear_error();
        SSL_free(ssl);
        return NULL;
    }
    wi_tls_connection *connection = malloc(sizeof *connection);
    if (!connection) {
        SSL_free(ssl);
        return NULL;
    }
    connection->ssl = ssl;
    return connection;
}

bool wi_tls_has_certificate(wi_tls_connection *connection) {
    X509 *certificate = SSL_get1_peer_certificate(connection->ssl);
    X509_free(certificate);
    return certificate != NULL;
}

bool wi_tls_is_http2(wi_tls_connection *connection) {
    const unsigned char *name = NULL;
    unsigned int length = 0;
    SSL_get0_alpn_selected(connection->ssl, &name, &length);
    return length == 2 && memcmp(name, "h2", 2) == 0;
}

long wi_tls_read(wi_tls_connection *connection, void *bytes, size_t count) {
    size_t done = 0;
    if (SSL_read_ex(connection->ssl, bytes, count, &done) == 1) return (long)done;
    long result = SSL_get_error(connection->ssl, 0) == SSL_ERROR_ZERO_RETURN ? 0 : -1;
    ERR_clear_error();
    return result;
}

bool wi_tls_write(wi_tls_connection *connection, const void *bytes, size_t count) {
    size_t done = 0;
    if (count == 0) return true;
    if (SSL_write_ex(connection->ssl, bytes, count, &done) == 1) return true;
    ERR_clear_error();
    return false;
}

void wi_tls_say_goodbye(wi_tls_connection *connection) {
    SSL_shutdown(connection->ssl);
    ERR_clear_error();
}

void wi_tls_end(wi_tls_connection *connection, bool orderly) {
    if (!connection) return;
    if (orderly) SSL_shutdown(connection->ssl);
    ERR_clear_error();
    SSL_free(connection->ssl);
    free(connection);
}
