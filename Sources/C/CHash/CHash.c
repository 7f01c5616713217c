// SPDX-License-Identifier: MIT
#include "CHash.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stddef.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t context_key;
static bool has_key;
static EVP_MD *sha256;

static void prepare_openssl(void) { OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL); }

void wi_openssl_prepare(void) {
    static pthread_once_t prepared = PTHREAD_ONCE_INIT;
    pthread_once(&prepared, prepare_openssl);
}

static void free_context(void *context) { EVP_MD_CTX_free(context); }

static void prepare(void) {
    wi_openssl_prepare();
    // Fetching the algorithm takes longer than hashing a key, so fetch it only once.
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    has_key = pthread_key_create(&context_key, free_context) == 0;
}

// Returns the context of the calling thread, which is created once and destroyed with the thread. Returns NULL if
// memory can't be allocated.
static EVP_MD_CTX *thread_context(void) {
    if (!has_key) return NULL;
    EVP_MD_CTX *context = pthread_getspecific(context_key);
    if (context == NULL) {
        context = EVP_MD_CTX_new();
        if (context != NULL && pthread_setspecific(context_key, context) != 0) {
            EVP_MD_CTX_free(context);
            context = NULL;
        }
    }
    return context;
}

bool wi_sha256(const void *bytes, size_t count, unsigned char digest[32]) {
    pthread_once(&once, prepare);
    EVP_MD_CTX *context = sha256 == NULL ? NULL : thread_context();
    unsigned length = 0;
    if (context != NULL && EVP_DigestInit_ex2(context, sha256, NULL) == 1 &&
        EVP_DigestUpdate(context, bytes, count) == 1 && EVP_DigestFinal_ex(context, digest, &length) == 1)
        return length == 32;
    return SHA256(bytes, count, digest) != NULL;
}
