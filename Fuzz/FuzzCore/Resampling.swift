// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import ResamplingReference

@testable import WebImageCore

/// The targets of resampling. The input contains the sizes, the window, the filter, the format, and the padding of rows
/// as choices, and the samples of the source.
enum Resampling {
    static let targets = [
        FuzzTarget(
            "resample", maxLength: 2_048, choiceCount: 24,
            seeds: { [Data((0..<96).map { UInt8(truncatingIfNeeded: $0 * 37) }), Data(repeating: 255, count: 64)] },
            run: resample)
    ]

    /// The maximum difference from the definition.
    ///
    /// The 8-bit kernels round light to 15 bits. Near black, the encoded value changes by 13 times the light, and the
    /// weights of Lanczos and of cubic kernels amplify rounding errors.
    private static func tolerance(_ format: PixelFormat, isLinear: Bool) -> Int {
        switch format {
        case .rgba8: isLinear ? 2 : 1
        case .rgba16: isLinear ? 24 : 2
        }
    }

    /// Compares both resamplers with the definition in double precision.
    private static func resample(_ bytes: UnsafeRawBufferPointer) {
        var choices = FuzzChoices(bytes)
        let size = PixelSize(width: choices.number(in: 1...90), height: choices.number(in: 1...60))
        let output = PixelSize(width: choices.number(in: 1...70), height: choices.number(in: 1...50))
        let format = choices.element(of: [PixelFormat.rgba8, .rgba16])
        let isOpaque = choices.isTrue()
        let filter = ResamplingFilter(
            choices.element(of: ResamplingFilter.Kernel.allCases), light: choices.isTrue() ? .encoded : .linear)
        let window = window(in: size, &choices)
        let padding = choices.number(in: 0...5) * format.bytesPerPixel
        let bandHeight = choices.number(in: 1...40)
        let context = ImageProcessingContext(limits: .unlimited)
        guard let source = try? source(size, format, isOpaque: isOpaque, samples: choices.rest) else { return }
        let expected = SlowResampler.resample(source, window: window, to: output, filter: filter)
        let limit = tolerance(format, isLinear: filter.usesLinearLight(from: window, to: output))

        guard
            let whole = try? resampled(source, window, output, filter, padding: padding, isOpaque: isOpaque, context)
        else { return require(false, "A valid window was rejected.") }
        compare(whole, expected, limit, "\(size) to \(output) from \(window) with \(filter), \(format)")

        guard
            let rows = try? inBands(source, window, output, filter, bandHeight: bandHeight, isOpaque: isOpaque, context)
        else { return require(false, "A valid window was rejected.") }
        compare(rows, expected, limit, "bands of \(bandHeight), \(size) to \(output) with \(filter), \(format)")
    }

    private static func compare(_ pixels: PixelBuffer, _ expected: [Int], _ limit: Int, _ description: String) {
        let samples = SlowResampler.samples(pixels)
        require(samples.count == expected.count, "The result of \(description) has another size.")
        for (index, (sample, other)) in zip(samples, expected).enumerated() where abs(sample - other) > limit {
            require(false, "Sample \(index) of \(description) is \(sample) instead of \(other).")
        }
        // Premultiplied colors never exceed their alpha.
        for start in stride(from: 0, to: samples.count, by: 4) {
            require(samples[start..<start + 3].allSatisfy { $0 <= samples[start + 3] }, "A color exceeds its alpha.")
        }
    }

    private static func window(in size: PixelSize, _ choices: inout FuzzChoices) -> SampleRect {
        guard choices.isTrue() else { return SampleRect(size) }
        func part(_ length: Int) -> (start: Double, length: Double) {
            let start = Double(choices.number(in: 0...99)) / 100 * Double(length)
            let share = Double(choices.number(in: 1...100)) / 100
            return (start, max(0.01, (Double(length) - start) * share))
        }
        let (x, width) = part(size.width)
        let (y, height) = part(size.height)
        return SampleRect(x: x, y: y, width: width, height: height)
    }

    /// Returns an image with premultiplied pixels whose samples repeat the input.
    private static func source(
        _ size: PixelSize, _ format: PixelFormat, isOpaque: Bool, samples: Data
    ) throws -> PixelBuffer {
        let canvas = try PixelCanvas(size: size, format: format)
        let input = samples.isEmpty ? [128] : [UInt8](samples)
        let maximum = format == .rgba8 ? 255 : 65_535
        var next = 0
        func sample() -> Int {
            defer { next += 1 }
            let low = Int(input[next % input.count])
            // Neighboring bytes form 16-bit samples.
            return format == .rgba8 ? low : low << 8 | Int(input[(next + 1) % input.count])
        }
        for y in 0..<size.height {
            let row = canvas.baseAddress + y * canvas.bytesPerRow
            for x in 0..<size.width {
                let alpha = isOpaque ? maximum : sample()
                for channel in 0..<4 {
                    let value = channel == 3 ? alpha : sample() * alpha / maximum
                    switch format {
                    case .rgba8: row.samples8[x * 4 + channel] = UInt8(value)
                    case .rgba16: row.samples16[x * 4 + channel] = UInt16(value)
                    }
                }
            }
        }
        return canvas.finish(isOpaque: isOpaque)
    }

    /// Resamples a copy of the source whose rows end with `padding` bytes, except for the last row.
    private static func resampled(
        _ source: PixelBuffer, _ window: SampleRect, _ output: PixelSize, _ filter: ResamplingFilter, padding: Int,
        isOpaque: Bool, _ context: ImageProcessingContext
    ) throws -> PixelBuffer {
        let rowBytes = source.width * source.format.bytesPerPixel
        // The address sanitizer reports a kernel that reads past the last row.
        let copy = UnsafeMutableRawBufferPointer.allocate(
            byteCount: (rowBytes + padding) * (source.height - 1) + rowBytes, alignment: 8)
        defer { copy.deallocate() }
        source.withUnsafeBytes { bytes in
            for row in 0..<source.height {
                let from = row * source.bytesPerRow
                UnsafeMutableRawBufferPointer(rebasing: copy[(row * (rowBytes + padding))...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[from..<from + rowBytes]))
            }
        }
        let canvas = try PixelCanvas(size: output, format: source.format)
        try Resampler.resample(
            source: UnsafeRawBufferPointer(copy), sourceSize: source.size, sourceBytesPerRow: rowBytes + padding,
            window: window, into: canvas, filter: filter, isOpaque: isOpaque, context: context)
        return canvas.finish(isOpaque: isOpaque)
    }

    /// Resamples rows that arrive in bands.
    private static func inBands(
        _ source: PixelBuffer, _ window: SampleRect, _ output: PixelSize, _ filter: ResamplingFilter, bandHeight: Int,
        isOpaque: Bool, _ context: ImageProcessingContext
    ) throws -> PixelBuffer {
        var resampler = try RowResampler(
            sourceSize: source.size, window: window, to: output, format: source.format, filter: filter, context: context)
        for start in stride(from: 0, to: source.height, by: bandHeight) {
            let count = min(bandHeight, source.height - start)
            let band = try PixelCanvas(size: PixelSize(width: source.width, height: count), format: source.format)
            let rowBytes = source.width * source.format.bytesPerPixel
            source.withUnsafeBytes { bytes in
                for row in 0..<count {
                    let from = (start + row) * source.bytesPerRow
                    UnsafeMutableRawBufferPointer(start: band.baseAddress + row * band.bytesPerRow, count: rowBytes)
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[from..<from + rowBytes]))
                }
            }
            try resampler.add(band.finish(isOpaque: isOpaque), context: context)
        }
        return resampler.finish(isOpaque: isOpaque)
    }
}
