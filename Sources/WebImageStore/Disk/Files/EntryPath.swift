// SPDX-License-Identifier: MIT

/// The path of an entry's file, relative to the directory of all entries: `00…ff/<64 hex>`.
///
/// The value stores 32 bytes and creates the text on demand because an eviction holds thousands of paths at the same
/// time.
package struct EntryPath: Sendable, Hashable {
    private var bytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// Creates the path of the entry whose name is the hexadecimal form of the given 32 bytes.
    init(_ bytes: UnsafeRawBufferPointer) {
        withUnsafeMutableBytes(of: &self.bytes) { $0.copyMemory(from: .init(rebasing: bytes.prefix($0.count))) }
    }

    /// Calls a closure with the null-terminated text, which is valid only during the call.
    package func withText<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Self.length + 1) { text in
            withUnsafeBytes(of: bytes) { bytes in
                (text[0], text[1], text[2]) = (Self.digit(bytes[0] >> 4), Self.digit(bytes[0] & 15), 47)
                for index in 0..<bytes.count {
                    text[index * 2 + 3] = Self.digit(bytes[index] >> 4)
                    text[index * 2 + 4] = Self.digit(bytes[index] & 15)
                }
            }
            text[Self.length] = 0
            guard let start = text.baseAddress else { preconditionFailure("A buffer that isn't empty has an address.") }
            return body(UnsafePointer(start))
        }
    }

    /// The path as a string.
    package var text: String { withText { String(cString: $0) } }

    private static let length = 67

    private static func digit(_ value: UInt8) -> CChar { CChar(bitPattern: value < 10 ? 48 + value : 87 + value) }

    package static func == (left: EntryPath, right: EntryPath) -> Bool { left.bytes == right.bytes }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes.0) }
}
