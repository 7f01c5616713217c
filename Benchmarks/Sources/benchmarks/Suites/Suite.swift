// SPDX-License-Identifier: MIT

/// A group of cases that can be run by its name.
protocol Suite: Sendable {
    static var name: String { get }
    /// The summary in the list of suites, on one line.
    static var summary: String { get }

    /// Prepares the cases. Throws ``Skipped`` if a requirement is missing.
    static func cases(_ settings: Settings) async throws -> [Case]
}

/// The reason that a suite was skipped.
struct Skipped: Error {
    let reason: String
}

/// All suites, in the order in which they run.
let allSuites: [any Suite.Type] = [
    MemorySuite.self, PolicySuite.self, DiskSuite.self, HTTPSuite.self, DecodeSuite.self, GIFSuite.self,
    ThumbnailSuite.self, PipelineSuite.self, StreamingSuite.self, ColdSuite.self, ScaleSuite.self,
    StartSuite.self,
]
