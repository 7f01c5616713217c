// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// An encoder for PGM, PPM, and PAM files with binary samples (`P5`, `P6`, and `P7` of Netpbm).
struct PNMWriter {
    private let pixels: PixelBuffer
    private let format: ImageFormat
    private let background: PixelColor

    init(_ pixels: PixelBuffer, as encoding: ImageEncoding) {
        self.pixels = pixels
        format = encoding.formatOrAutomatic
        background = encoding.background
    }

    func encode(context: ImageProcessingContext) throws(ImageError) -> Data {
        try requireEncodable(pixels, as: format, maxDimension: Int(Int32.max))
        var file = Data(header.utf8)
        let isWide = pixels.format.layout.isWide
        file.reserveCapacity(file.count + pixels.width * channels * (isWide ? 2 : 1) * pixels.height)
        for row in 0..<pixels.height {
            if row % rowsPerCheckpoint == 0 { try context.checkCancellation() }
            file.append(contentsOf: isWide ? wideRow(row) : narrowRow(row))
        }
        return file
    }

    /// The number of samples per pixel in the file.
    private var channels: Int { format == .pgm ? 1 : format == .ppm || pixels.isOpaque ? 3 : 4 }

    private var header: String {
        let maximum = pixels.format.layout.isWide ? 65_535 : 255
        guard format == .pam else {
            return "\(format == .pgm ? "P5" : "P6")\n\(pixels.width) \(pixels.height)\n\(maximum)\n"
        }
        return """
            P7
            WIDTH \(pixels.width)
            HEIGHT \(pixels.height)
            DEPTH \(channels)
            MAXVAL \(maximum)
            TUPLTYPE \(channels == 3 ? "RGB" : "RGB_ALPHA")
            ENDHDR

            """
    }

    private func narrowRow(_ row: Int) -> [UInt8] {
        let line = self.row(row)
        var samples: [UInt8] = []
        samples.reserveCapacity(pixels.width * channels)
        for start in stride(from: 0, to: line.count, by: 4) {
            let (red, green, blue) = (Int(line[start]), Int(line[start + 1]), Int(line[start + 2]))
            add(red, green, blue, alpha: Int(line[start + 3]), maximum: 255) { samples.append(UInt8($0)) }
        }
        return samples
    }

    /// Returns a row with 16-bit samples, whose first byte is the higher one.
    private func wideRow(_ row: Int) -> [UInt8] {
        let line = self.row(row)
        var samples: [UInt8] = []
        samples.reserveCapacity(pixels.width * channels * 2)
        line.withUnsafeBytes { bytes in
            let words = bytes.bindMemory(to: UInt16.self)
            for start in stride(from: 0, to: words.count, by: 4) {
                let (red, green, blue) = (Int(words[start]), Int(words[start + 1]), Int(words[start + 2]))
                add(red, green, blue, alpha: Int(words[start + 3]), maximum: 65_535) { sample in
                    samples.append(UInt8(sample >> 8))
                    samples.append(UInt8(sample & 0xFF))
                }
            }
        }
        return samples
    }

    /// Returns a row with straight alpha for PAM, and with premultiplied alpha for the other formats, which have no alpha.
    private func row(_ row: Int) -> [UInt8] {
        guard format != .pam else { return AlphaUnpremultiplier.rows(of: pixels, from: row, count: 1) }
        return pixels.withUnsafeBytes { bytes in
            Array(bytes[(row * pixels.bytesPerRow)...].prefix(pixels.width * pixels.format.bytesPerPixel))
        }
    }

    /// Passes the samples of a pixel to `append`.
    @inline(__always)
    private func add(
        _ red: Int, _ green: Int, _ blue: Int, alpha: Int, maximum: Int, _ append: (Int) -> Void
    ) {
        guard format != .pam else {
            append(red)
            append(green)
            append(blue)
            if channels == 4 { append(alpha) }
            return
        }
        let red = red + (Int(background.red) * (maximum - alpha) + 127) / 255
        let green = green + (Int(background.green) * (maximum - alpha) + 127) / 255
        let blue = blue + (Int(background.blue) * (maximum - alpha) + 127) / 255
        if format == .pgm {
            // The weights of Rec. 709, as in the transformer for grayscale. Gray pixels remain unchanged.
            append(min(maximum, (2_126 * red + 7_152 * green + 722 * blue + 5_000) / 10_000))
        } else {
            append(min(maximum, red))
            append(min(maximum, green))
            append(min(maximum, blue))
        }
    }
}
