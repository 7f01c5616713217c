// SPDX-License-Identifier: MIT
// Allocations of C libraries that fail on request. Linking this module replaces the allocator of the executable.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Reads the loaded libraries. Call this function before the others and after the first use of all libraries.
///
/// Allocations of the executable and of the libraries can fail. Allocations of the C library, of the dynamic linker, and
/// of Swift’s libraries can't, because Swift’s runtime ends the process if an allocation fails. If `own_only` isn't 0, only
/// allocations that the code of the executable makes directly can fail, and those of all libraries succeed.
void wi_faults_prepare(int own_only);
/// Makes the allocation with a number fail, counted from 1 after this call. With 0, all allocations succeed.
void wi_faults_arm(size_t number);
/// Stops failing, and returns the number of allocations that could have failed.
size_t wi_faults_disarm(void);
/// Returns the number of allocations of the executable itself that were made while armed and that still exist.
size_t wi_faults_remaining(void);
/// Copies the process, and returns 0 in the copy and its identifier in the original. A copy that runs for more than
/// `seconds` is ended.
int wi_faults_copy(unsigned seconds);
/// Waits for the end of a copy, and returns its exit status, or the negative signal that ended it.
int wi_faults_wait(int copy);

#ifdef __cplusplus
}
#endif
