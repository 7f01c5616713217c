// SPDX-License-Identifier: MIT

import WebImageCore

/// The planes of an Apple icon, with one byte per sample.
struct ICNSPlanes {
    private(set) var hasAlpha: Bool
    private let side: Int
    private var alpha: ArraySlice<UInt8>
    private let colors: ArraySlice<UInt8>

    /// Unpacks the planes of an icon with `side` pixels per side, at most 128.
    ///
    /// A byte below 128 precedes one more literal byte than its value. Another byte, minus 125, is the number of times
    /// to repeat the next byte. Runs may continue in the next plane.
    ///
    /// - Parameter hasAlpha: Whether an alpha plane precedes the three color planes.
    /// - Throws: ``ImageError/DecodingFailure/Reason/corrupted(reason:)`` if the planes are incomplete.
    init(_ bytes: UnsafeBufferPointer<UInt8>, side: Int, hasAlpha: Bool) throws(ImageError) {
        let area = side * side
        let count = area * (hasAlpha ? 4 : 3)
        var samples: [UInt8] = []
        samples.reserveCapacity(count + 130)
        var reader = ByteReader(bytes)
        while samples.count < count {
            guard let control = reader.byte() else { break }
            if control < 128 {
                guard let literal = reader.read(min(Int(control) + 1, reader.remaining)), !literal.isEmpty else {
                    break
                }
                samples += literal
            } else {
                guard let value = reader.byte() else { break }
                samples += repeatElement(value, count: Int(control) - 125)
            }
        }
        guard samples.count >= count else {
            let reason = "the planes have \(samples.count) of \(count) bytes"
            throw .decoding(.corrupted(format: .icns, reason: reason))
        }
        self.side = side
        self.hasAlpha = hasAlpha
        alpha = hasAlpha ? samples[..<area] : []
        colors = samples[(hasAlpha ? area : 0)..<count]
    }

    /// Sets the alpha plane, which is stored in an entry without compression.
    mutating func setAlpha(_ bytes: UnsafeBufferPointer<UInt8>) throws(ImageError) {
        guard bytes.count >= side * side else {
            let reason = "the mask has \(bytes.count) of \(side * side) bytes"
            throw .decoding(.corrupted(format: .icns, reason: reason))
        }
        alpha = ArraySlice(bytes.prefix(side * side))
        hasAlpha = true
    }

    /// Returns the premultiplied pixels.
    func pixels(context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let canvas = try PixelCanvas.forDecoding(PixelSize(width: side, height: side), context: context)
        let area = side * side
        for y in 0..<side {
            let row = canvas.row(y)
            for x in 0..<side {
                let place = y * side + x
                for channel in 0..<3 { row[x * 4 + channel] = colors[colors.startIndex + channel * area + place] }
                row[x * 4 + 3] = hasAlpha ? alpha[alpha.startIndex + place] : 255
            }
        }
        if hasAlpha { canvas.premultiply(rows: 0..<side) }
        let isOpaque = !hasAlpha || canvas.isEveryPixelOpaque()
        return canvas.finish(isOpaque: isOpaque)
    }
}
