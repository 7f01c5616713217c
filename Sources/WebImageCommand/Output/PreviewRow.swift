// SPDX-License-Identifier: MIT

/// One preview that `load` was given.
package struct PreviewRow: Sendable, Equatable {
    /// Bytes of the body that had come.
    package var bytes: Int
    package var width: Int
    package var height: Int
    /// Path of the written file.
    package var output: String?

    package init(bytes: Int, width: Int, height: Int, output: String? = nil) {
        self.bytes = bytes
        self.width = width
        self.height = height
        self.output = output
    }

    /// One object.
    package var json: JSONValue {
        .object([
            .init("bytes", .int(bytes)), .init("width", .int(width)), .init("height", .int(height)),
            .init("output", JSONValue(output)),
        ])
    }
}
