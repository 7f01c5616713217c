// SPDX-License-Identifier: MIT

import WebImageCore

/// A reader that collects the samples of one row after another, and that can continue with the next bytes of a file.
///
/// Rows have the binary layout of `P4` to `P7`, also in files with text. Samples above the maximum count as the maximum
/// when they're converted.
struct PNMRowSource {
    private let header: PNMHeader
    private let rowBytes: Int
    /// The row that ends with the last byte. It's empty if the row is located in the bytes of the file.
    private var row: [UInt8] = []
    /// The offset of the row in the bytes of the file, or `nil` if it's in `row`.
    private var location: Int?
    private var isRowComplete = false
    private var text: PNMTextReader

    init(_ header: PNMHeader) {
        self.header = header
        rowBytes = header.rowBytes
        text = PNMTextReader(header)
    }

    /// Reads the next row from the bytes at `offset`, and advances the offset. Returns `false` if the bytes end before the
    /// row does, so that the next call continues it. A number at the end of a file is complete if `isLast` is `true`.
    ///
    /// - Throws: ``ImageError/DecodingFailure/Reason/corrupted(_:)`` if text isn't a number.
    mutating func fill(
        from bytes: UnsafeBufferPointer<UInt8>, at offset: inout Int, isLast: Bool
    ) throws(ImageError) -> Bool {
        if isRowComplete {
            row.removeAll(keepingCapacity: true)
            isRowComplete = false
        }
        location = nil
        if header.isText {
            isRowComplete = try text.append(to: &row, from: bytes, at: &offset, isLast: isLast)
            return isRowComplete
        }
        let available = max(0, bytes.count - offset)
        if row.isEmpty, available >= rowBytes {
            location = offset
            offset += rowBytes
        } else {
            let count = min(rowBytes - row.count, available)
            if count > 0 {
                row.append(contentsOf: bytes[offset..<offset + count])
                offset += count
            }
            guard row.count == rowBytes else { return false }
        }
        isRowComplete = true
        return true
    }

    /// Calls `body` with the row that was completed last. `bytes` are those of the call that completed it.
    func withRow(of bytes: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        if let location {
            body(UnsafeBufferPointer(rebasing: bytes[location..<location + rowBytes]))
        } else {
            row.withUnsafeBufferPointer(body)
        }
    }
}
