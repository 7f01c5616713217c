// SPDX-License-Identifier: MIT
#include "CSQLite.h"

int wi_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes == NULL ? "" : bytes, count, SQLITE_TRANSIENT);
}

int wi_sqlite_bind_text(sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text == NULL ? "" : text, count, SQLITE_TRANSIENT);
}
