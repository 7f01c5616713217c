// SPDX-License-Identifier: MIT
#include "CHash.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

// OpenSSL counts bytes with `int`, so longer data is processed in steps.
#define STEP ((size_t)1 << 20)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static EVP_CIPHER *gcm;
static EVP_CIPHER *ecb;

static void fetch_ciphers(void) {
    wi_openssl_prepare();
    gcm = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
    ecb = EVP_CIPHER_fetch(NULL, "AES-256-ECB", NULL);
}

bool wi_hmac_sha256(
    const void *key, size_t key_count, const void *bytes, size_t count, unsigned char digest[32]) {
    unsigned length = 0;
    wi_openssl_prepare();
    if (key_count > INT_MAX) return false;
    return HMAC(EVP_sha256(), key, (int)key_count, bytes, count, digest, &length) != NULL && length == 32;
}

// Processes bytes in steps. Without a target, the bytes are associated data.
static bool update(EVP_CIPHER_CTX *context, const unsigned char *source, unsigned char *target, size_t count) {
    for (size_t done = 0; done < count;) {
        size_t step = count - done < STEP ? count - done : STEP;
        int length = 0;
        unsigned char *place = target == NULL ? NULL : target + done;
        if (EVP_CipherUpdate(context, place, &length, source + done, (int)step) != 1) return false;
        if ((size_t)length != step) return false;
        done += step;
    }
    return true;
}

static EVP_CIPHER_CTX *begin(
    const unsigned char key[32], const unsigned char nonce[12], const void *associated, size_t associated_count,
    bool encrypts) {
    pthread_once(&once, fetch_ciphers);
    EVP_CIPHER_CTX *context = gcm == NULL ? NULL : EVP_CIPHER_CTX_new();
    if (context == NULL) return NULL;
    // The default length of a nonce is 12 bytes.
    if (EVP_CipherInit_ex2(context, gcm, key, nonce, encrypts ? 1 : 0, NULL) == 1 &&
        update(context, associated, NULL, associated_count))
        return context;
    EVP_CIPHER_CTX_free(context);
    return NULL;
}

EVP_CIPHER_CTX *wi_gcm_begin(
    const unsigned char key[32], const unsigned char nonce[12], const void *associated, size_t associated_count) {
    return begin(key, nonce, associated, associated_count, true);
}

bool wi_gcm_update(EVP_CIPHER_CTX *context, const void *source, void *target, size_t count) {
    return update(context, source, target, count);
}

bool wi_gcm_finish(EVP_CIPHER_CTX *context, unsigned char tag[16]) {
    unsigned char rest[16];
    int length = 0;
    return EVP_CipherFinal_ex(context, rest, &length) == 1 && length == 0 &&
           EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, tag) == 1;
}

void wi_gcm_free(EVP_CIPHER_CTX *context) { EVP_CIPHER_CTX_free(context); }

bool wi_gcm_open(
    const unsigned char key[32], const unsigned char nonce[12], const void *associated, size_t associated_count,
    const void *source, void *target, size_t count, const unsigned char tag[16]) {
    EVP_CIPHER_CTX *context = begin(key, nonce, associated, associated_count, false);
    unsigned char rest[16];
    unsigned char wanted[16];
    int length = 0;
    memcpy(wanted, tag, sizeof wanted);
    bool is_authentic = context != NULL && update(context, source, target, count) &&
                        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, wanted) == 1 &&
                        EVP_CipherFinal_ex(context, rest, &length) == 1 && length == 0;
    EVP_CIPHER_CTX_free(context);
    if (!is_authentic) {
        // No caller may use data whose tag is wrong, and other users of this thread must not find the error.
        if (count > 0) OPENSSL_cleanse(target, count);
        ERR_clear_error();
    }
    return is_authentic;
}

bool wi_aes256_blocks(const unsigned char key[32], void *blocks, size_t count, bool encrypts) {
    pthread_once(&once, fetch_ciphers);
    if (count > SIZE_MAX / 16) return false;
    EVP_CIPHER_CTX *context = ecb == NULL ? NULL : EVP_CIPHER_CTX_new();
    bool succeeds = context != NULL && EVP_CipherInit_ex2(context, ecb, key, NULL, encrypts ? 1 : 0, NULL) == 1 &&
                    EVP_CIPHER_CTX_set_padding(context, 0) == 1 && update(context, blocks, blocks, count * 16);
    EVP_CIPHER_CTX_free(context);
    return succeeds;
}

bool wi_scrypt(
    const char *passphrase, size_t passphrase_count, const unsigned char *salt, size_t salt_count, uint64_t cost,
    uint64_t block_size, uint64_t parallelization, uint64_t memory_limit, unsigned char *key, size_t key_count) {
    wi_openssl_prepare();
    bool succeeds = EVP_PBE_scrypt(
                        passphrase, passphrase_count, salt, salt_count, cost, block_size, parallelization, memory_limit,
                        key, key_count) == 1;
    if (!succeeds) ERR_clear_error();
    return succeeds;
}
