// SPDX-License-Identifier: MIT

import Foundation

/// The location of the fixtures.
public enum Fixtures {
    /// The directory `Tests/Fixtures` of this checkout.
    public static let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures")
}
