// SPDX-License-Identifier: MIT
#pragma once
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

/// Prepares OpenSSL so that it doesn't free its memory when the process exits. Otherwise, threads that still run then,
/// such as the network thread or a thread that just ends, would use freed memory and crash. Any thread may call this
/// function. The functions below call it. Callers of libraries that use OpenSSL call it before.
void wi_openssl_prepare(void);

/// Computes the SHA-256 digest (FIPS 180-4) of `count` bytes. Any thread may call this function. Returns `false` if
/// OpenSSL can't allocate memory.
bool wi_sha256(const void *bytes, size_t count, unsigned char digest[32]);

/// Computes HMAC-SHA-256 (RFC 2104). Any thread may call this function. Returns `false` if OpenSSL can't allocate
/// memory.
bool wi_hmac_sha256(
    const void *key, size_t key_count, const void *bytes, size_t count, unsigned char digest[32]);

/// Begins an encryption with AES-256-GCM (NIST SP 800-38D) and authenticates the associated data. A nonce must be used
/// only once per key. Returns `NULL` if OpenSSL can't allocate memory. Free the result with `wi_gcm_free`.
EVP_CIPHER_CTX *wi_gcm_begin(
    const unsigned char key[32], const unsigned char nonce[12], const void *associated, size_t associated_count);

/// Encrypts the next `count` bytes. The target can be the source. Returns `false` on an error of OpenSSL.
bool wi_gcm_update(EVP_CIPHER_CTX *context, const void *source, void *target, size_t count);

/// Ends an encryption and returns its tag. Returns `false` on an error of OpenSSL.
bool wi_gcm_finish(EVP_CIPHER_CTX *context, unsigned char tag[16]);

/// Frees a context. `NULL` is ignored.
void wi_gcm_free(EVP_CIPHER_CTX *context);

/// Decrypts `count` bytes with AES-256-GCM in steps of 1 MiB. The target can be the source. Any thread may call this
/// function. Returns `false` and overwrites the target with zeros if the tag is wrong or on an error of OpenSSL.
bool wi_gcm_open(
    const unsigned char key[32], const unsigned char nonce[12], const void *associated, size_t associated_count,
    const void *source, void *target, size_t count, const unsigned char tag[16]);

/// Encrypts or decrypts `count` single blocks of 16 bytes with AES-256 (FIPS 197), in place. Equal blocks have equal
/// results, so use this function only for distinct values. Returns `false` on an error of OpenSSL.
bool wi_aes256_blocks(const unsigned char key[32], void *blocks, size_t count, bool encrypts);

/// Derives a key from a passphrase with scrypt (RFC 7914), which blocks for about a second with the usual parameters.
/// Returns `false` if the parameters aren't valid or need more than `memory_limit` bytes.
bool wi_scrypt(
    const char *passphrase, size_t passphrase_count, const unsigned char *salt, size_t salt_count, uint64_t cost,
    uint64_t block_size, uint64_t parallelization, uint64_t memory_limit, unsigned char *key, size_t key_count);
