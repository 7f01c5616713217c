// SPDX-License-Identifier: MIT
#pragma once
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdbool.h>
#include <xxhash.h>

/// SHA-256 (FIPS 180-4) of `count` bytes. Any thread. False where OpenSSL has no memory.
bool wi_sha256(const void *bytes, size_t count, unsigned char digest[32]);
