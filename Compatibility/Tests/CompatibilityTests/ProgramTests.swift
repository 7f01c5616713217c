// SPDX-License-Identifier: MIT

import Testing

/// The programs use shared managers, so their tests run one after another.
@Suite("Programs for other libraries", .serialized)
@MainActor
enum ProgramTests {}
