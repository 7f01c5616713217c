// SPDX-License-Identifier: MIT

import Foundation

/// The long variants of tests with random or many inputs, which `make soak` runs.
enum LongTests {
    /// A Boolean value that indicates whether the environment variable `WEBIMAGE_SOAK_CODECS` is set.
    static let areEnabled = ProcessInfo.processInfo.environment["WEBIMAGE_SOAK_CODECS"] != nil

    /// Returns the number of rounds of a test. The short variant runs the first rounds of the long one.
    static func rounds(_ short: Int, long: Int) -> Int { areEnabled ? long : short }
}
