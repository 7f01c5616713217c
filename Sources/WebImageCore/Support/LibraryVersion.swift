// SPDX-License-Identifier: MIT

/// The version of a system library that the process uses.
package struct LibraryVersion: Sendable, Hashable {
    /// The name of the library, such as `libpng`.
    package var name: String
    /// The version that the library reports, such as `1.6.39`.
    package var version: String
    /// Whether the version is that of the headers, because the library doesn't report its version at run time.
    package var isFromHeaders: Bool

    package init(_ name: String, _ version: String, isFromHeaders: Bool = false) {
        self.name = name
        self.version = version
        self.isFromHeaders = isFromHeaders
    }
}
