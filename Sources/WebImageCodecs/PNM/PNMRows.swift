// SPDX-License-Identifier: MIT

import CPixelKernels
import WebImageCore

/// A converter of rows with binary samples to premultiplied pixels.
struct PNMRows {
    let header: PNMHeader
    /// The sample with 8 bits for each stored byte. It's empty if stored samples have two bytes.
    private let table: [UInt8]

    init(_ header: PNMHeader) {
        self.header = header
        let maximum = header.maximum
        table = maximum > 255 ? [] : (0...255).map { UInt8((min($0, maximum) * 255 + maximum / 2) / maximum) }
    }

    /// Converts a row to pixels in a format, which has 16 bits per sample only if stored samples have two bytes.
    func convert(
        _ source: UnsafeBufferPointer<UInt8>, into target: UnsafeMutablePointer<UInt8>, as format: PixelFormat
    ) {
        if header.format == .pbm {
            convertBits(source, into: target)
        } else if !table.isEmpty {
            table.withUnsafeBufferPointer { table in
                spread(into: target, opaque: 255) { table[Int(source[$0])] }
            }
        } else if format.layout.isWide {
            let words = UnsafeMutableRawPointer(target).assumingMemoryBound(to: UInt16.self)
            spread(into: words, opaque: 65_535) { UInt16(scaled(source, $0, to: 65_535)) }
        } else {
            spread(into: target, opaque: 255) { UInt8(scaled(source, $0, to: 255)) }
        }
        if header.hasAlpha { format.kernels.premultiply(target, header.size.width) }
    }

    /// Returns a sample of two bytes, scaled with rounding.
    private func scaled(_ source: UnsafeBufferPointer<UInt8>, _ index: Int, to range: Int) -> Int {
        let sample = min(Int(source[2 * index]) << 8 | Int(source[2 * index + 1]), header.maximum)
        return header.maximum == range ? sample : (sample * range + header.maximum / 2) / header.maximum
    }

    /// Eight pixels have one byte, beginning with the highest bit. A bit of 1 is black.
    private func convertBits(_ source: UnsafeBufferPointer<UInt8>, into target: UnsafeMutablePointer<UInt8>) {
        spread(into: target, opaque: 255) { source[$0 / 8] & 0x80 >> UInt8($0 % 8) == 0 ? 255 : 0 }
    }

    /// Writes the pixels of a row with straight alpha. `sample` returns the sample with an index.
    @inline(__always)
    private func spread<Sample>(
        into target: UnsafeMutablePointer<Sample>, opaque: Sample, _ sample: (Int) -> Sample
    ) {
        for x in 0..<header.size.width {
            let pixel = target + x * 4
            switch header.channels {
            case 1, 2:
                let gray = sample(x * header.channels)
                (pixel[0], pixel[1], pixel[2]) = (gray, gray, gray)
                pixel[3] = header.channels == 2 ? sample(x * 2 + 1) : opaque
            default:
                let first = x * header.channels
                (pixel[0], pixel[1], pixel[2]) = (sample(first), sample(first + 1), sample(first + 2))
                pixel[3] = header.channels == 4 ? sample(first + 3) : opaque
            }
        }
    }
}
