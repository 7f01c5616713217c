// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

/// An encoder for QOI files (qoiformat.org, version 1.0), with sRGB colors and linear alpha.
struct QOIWriter {
    private var file = Data()
    private var seen = [QOIPixel](repeating: .none, count: 64)
    private var last = QOIPixel.first
    private var run: UInt8 = 0

    static func encode(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> Data {
        try requireEncodable(pixels, as: .qoi, maxDimension: Int(Int32.max))
        let pixels = try pixels.eightBits(context: context)
        var writer = QOIWriter()
        writer.file.reserveCapacity(pixels.width * pixels.height + 64)
        writer.file.append(contentsOf: [0x71, 0x6F, 0x69, 0x66])
        for side in [pixels.width, pixels.height] {
            withUnsafeBytes(of: UInt32(side).bigEndian) { writer.file.append(contentsOf: $0) }
        }
        writer.file.append(contentsOf: [pixels.isOpaque ? 3 : 4, 0])
        for row in 0..<pixels.height {
            if row % rowsPerCheckpoint == 0 { try context.checkCancellation() }
            writer.add(AlphaUnpremultiplier.rows(of: pixels, from: row, count: 1))
        }
        writer.endRun()
        writer.file.append(contentsOf: [0, 0, 0, 0, 0, 0, 0, 1])
        return writer.file
    }

    private mutating func add(_ row: [UInt8]) {
        for start in stride(from: 0, to: row.count, by: 4) {
            let pixel = QOIPixel(
                red: row[start], green: row[start + 1], blue: row[start + 2], alpha: row[start + 3])
            if pixel == last {
                run += 1
                if run == QOIPixel.longestRun { endRun() }
                continue
            }
            endRun()
            write(pixel)
            last = pixel
        }
    }

    private mutating func endRun() {
        guard run > 0 else { return }
        file.append(QOIPixel.run | (run - 1))
        run = 0
    }

    private mutating func write(_ pixel: QOIPixel) {
        let place = pixel.tableIndex
        guard seen[place] != pixel else {
            file.append(QOIPixel.index | UInt8(place))
            return
        }
        seen[place] = pixel
        guard pixel.alpha == last.alpha else {
            file.append(contentsOf: [QOIPixel.rgba, pixel.red, pixel.green, pixel.blue, pixel.alpha])
            return
        }
        let (red, green, blue) = (pixel.red &- last.red, pixel.green &- last.green, pixel.blue &- last.blue)
        if max(red &+ 2, green &+ 2, blue &+ 2) < 4 {
            file.append(QOIPixel.difference | (red &+ 2) << 4 | (green &+ 2) << 2 | (blue &+ 2))
        } else if green &+ 32 < 64, max(red &- green &+ 8, blue &- green &+ 8) < 16 {
            file.append(contentsOf: [
                QOIPixel.luma | (green &+ 32), (red &- green &+ 8) << 4 | (blue &- green &+ 8),
            ])
        } else {
            file.append(contentsOf: [QOIPixel.rgb, pixel.red, pixel.green, pixel.blue])
        }
    }
}
