// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// The number of seconds since January 1, 2001, within 100,000 years.
extension Date: BinaryCodable {
    package init(from reader: inout BinaryReader) throws(MalformedData) {
        let seconds = try reader.value(Double.self)
        // NaN isn't less than the bound.
        guard seconds.magnitude < 3e12 else { throw MalformedData("\(seconds) isn't a date") }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }

    package func write(to writer: inout BinaryWriter) { writer.put(timeIntervalSinceReferenceDate) }
}
