// SPDX-License-Identifier: MIT

/// A preview that `fetch` received.
package struct PreviewRow: Sendable, Equatable {
    /// The number of body bytes received before the preview.
    package var bytes: Int
    package var width: Int
    package var height: Int
    /// The path of the file that was written.
    package var output: String?

    package init(bytes: Int, width: Int, height: Int, output: String? = nil) {
        self.bytes = bytes
        self.width = width
        self.height = height
        self.output = output
    }

    /// The JSON object for the preview.
    package var json: JSONValue {
        .object([
            .init("byteCount", .int(bytes)), .init("width", .int(width)), .init("height", .int(height)),
            .init("output", JSONValue(output)),
        ])
    }
}
