// SPDX-License-Identifier: MIT
#pragma once
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdbool.h>
#include <xxhash.h>

/// Computes the SHA-256 digest (FIPS 180-4) of `count` bytes. Any thread may call this function. Returns `false` if
/// OpenSSL can't allocate memory.
bool wi_sha256(const void *bytes, size_t count, unsigned char digest[32]);
