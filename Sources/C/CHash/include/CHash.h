// SPDX-License-Identifier: MIT
#pragma once
#include <openssl/sha.h>
#include <xxhash.h>
