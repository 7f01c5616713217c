// SPDX-License-Identifier: MIT
#pragma once
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <xxhash.h>
