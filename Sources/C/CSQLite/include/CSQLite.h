// SPDX-License-Identifier: MIT
#pragma once
#include <stddef.h>
#include <stdio.h>
#include <sqlite3.h>

/// Binds a copy of `bytes`. Swift can't use the macro SQLITE_TRANSIENT.
int wi_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count);
/// Binds a copy of the UTF-8 `text`.
int wi_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int count);
