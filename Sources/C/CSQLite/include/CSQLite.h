// SPDX-License-Identifier: MIT
#pragma once
#include <stddef.h>
#include <stdio.h>
#include <sqlite3.h>

/// Binds a copy of `bytes`; the macro SQLITE_TRANSIENT is out of Swift's reach.
int wi_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count);
/// Binds a copy of UTF-8 `text`.
int wi_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int count);
