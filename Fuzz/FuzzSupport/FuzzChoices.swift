// SPDX-License-Identifier: MIT

import Foundation

/// The choices that an input makes for its own run, such as the options of a decode.
///
/// The choices are read from the end of the input, as LLVM's `FuzzedDataProvider` does, so the beginning remains a valid
/// file, and mutations of the file don't change the choices.
package struct FuzzChoices {
    private var bytes: Slice<UnsafeRawBufferPointer>

    /// Creates the choices of an input.
    package init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes[...] }

    /// The bytes that haven't been read as choices.
    package var rest: Data { Data(bytes) }

    /// Returns a number in `range`, which is the lower bound after the end of the input.
    package mutating func number(in range: ClosedRange<Int>) -> Int {
        guard let byte = bytes.popLast() else { return range.lowerBound }
        var value = Int(byte)
        if range.count > 256, let other = bytes.popLast() { value = value << 8 | Int(other) }
        return range.lowerBound + value % range.count
    }

    /// Returns `true` in one of `count` cases.
    package mutating func isTrue(oneIn count: Int = 2) -> Bool { number(in: 0...(count - 1)) == 1 }

    /// Returns one of the elements.
    package mutating func element<Element>(of elements: [Element]) -> Element {
        elements[number(in: 0...(elements.count - 1))]
    }
}
