// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Marks a test that expects the right result where the library still gives a wrong one.
///
/// The failures of a marked test are recorded as known issues, so that the suite passes before and after the fix. Remove
/// the trait with the fix. Set the environment variable `WEBIMAGE_WRONG_RESULTS` to `report` to see the failures.
///
/// A marked test ends after ``limit`` because a wrong result may be a wait that never ends. The limit ends the test with a
/// failure and says nothing about the speed of the library.
struct WrongResult: TestTrait, SuiteTrait, TestScoping {
    /// The number of the wrong result in its list.
    let number: String
    /// The time after which the test is canceled.
    let limit: Duration

    var isRecursive: Bool { true }

    fileprivate static var isReporting: Bool {
        ProcessInfo.processInfo.environment["WEBIMAGE_WRONG_RESULTS"] == "report"
    }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard !Self.isReporting else { return try await limited(function) }
        await withKnownIssue("Wrong result \(number)", isIntermittent: true) { try await limited(function) }
    }

    private func limited(_ function: @Sendable () async throws -> Void) async throws {
        try await withoutActuallyEscaping(function) { function in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await function() }
                group.addTask { [limit] in
                    try await Task.sleep(for: limit)
                    throw NoEnd(limit: limit)
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }
}

/// The error of a test that didn't end by itself.
private struct NoEnd: Error, CustomStringConvertible {
    let limit: Duration
    var description: String { "The test did not end within \(limit)" }
}

extension Trait where Self == WrongResult {
    /// Records the failures of a test as known issues, because the library still gives a wrong result.
    ///
    /// - Parameters:
    ///   - number: The number of the wrong result in its list.
    ///   - limit: The time after which the test is canceled. The default is 15 seconds.
    static func wrongResult(_ number: String, limit: Duration = .seconds(15)) -> WrongResult {
        WrongResult(number: number, limit: limit)
    }
}

/// Runs a part of a test whose failures are known if `name` isn't `nil`.
func knownWrongResult(_ name: String?, _ body: () async throws -> Void) async throws {
    guard let name, !WrongResult.isReporting else { return try await body() }
    await withKnownIssue("Wrong result \(name)", isIntermittent: true) { try await body() }
}
