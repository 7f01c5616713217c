// SPDX-License-Identifier: MIT
#include "CHash.h"

#include <limits.h>
#include <openssl/hmac.h>

bool wi_hmac_sha256(
    const void *key, size_t key_count, const void *bytes, size_t count, unsigned char digest[32]) {
    unsigned length = 0;
    if (key_count > INT_MAX) return false;
    return HMAC(EVP_sha256(), key, (int)key_count, bytes, count, digest, &length) != NULL && length == 32;
}
