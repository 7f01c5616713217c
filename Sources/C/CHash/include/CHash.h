// SPDX-License-Identifier: MIT
#pragma once
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdbool.h>
#include <xxhash.h>

/// Computes the SHA-256 digest (FIPS 180-4) of `count` bytes. Any thread may call this function. Returns `false` if
/// OpenSSL can't allocate memory.
bool wi_sha256(const void *bytes, size_t count, unsigned char digest[32]);

/// Computes HMAC-SHA-256 (RFC 2104). Any thread may call this function. Returns `false` if OpenSSL can't allocate
/// memory.
bool wi_hmac_sha256(
    const void *key, size_t key_count, const void *bytes, size_t count, unsigned char digest[32]);
