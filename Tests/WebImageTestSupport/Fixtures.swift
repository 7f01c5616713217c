// SPDX-License-Identifier: MIT

import Foundation

/// Where the fixtures are.
public enum Fixtures {
    /// `Tests/Fixtures` of this checkout.
    public static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures")
}
