// SPDX-License-Identifier: MIT

/// The relation between the resolutions of luma and chroma in a file.
public struct ChromaSampling: Sendable, Hashable, CustomStringConvertible {
    /// The number of luma columns per chroma column.
    public let columns: Int
    /// The number of luma rows per chroma row.
    public let rows: Int

    /// The notation of ITU-R BT.601, such as `4:2:0`, or the numbers of columns and rows, such as `3 × 1`, if it has no
    /// notation.
    public var description: String {
        guard [1, 2, 4].contains(columns), rows <= 2 else { return "\(columns) × \(rows)" }
        return "4:\(4 / columns):\(rows == 1 ? 4 / columns : 0)"
    }
}
