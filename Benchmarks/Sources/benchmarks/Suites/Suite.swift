// SPDX-License-Identifier: MIT

/// A group of cases that can be run by its name.
protocol Suite: Sendable {
    static var name: String { get }
    /// One line for the list of suites.
    static var summary: String { get }

    /// Prepares the cases; throws ``Skipped`` where something they need is missing.
    static func cases(_ settings: Settings) async throws -> [Case]
}

/// Why a suite was not run.
struct Skipped: Error {
    let reason: String
}

/// All suites, in the order in which they are run.
let allSuites: [any Suite.Type] = [
    MemorySuite.self, DiskSuite.self, HTTPSuite.self, DecodeSuite.self, GIFSuite.self, ThumbnailSuite.self,
    PipelineSuite.self, StreamingSuite.self, ColdSuite.self,
]
