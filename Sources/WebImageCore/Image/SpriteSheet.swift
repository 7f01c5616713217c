// SPDX-License-Identifier: MIT

/// An image whose parts are the frames of an animation.
///
/// The parts are copied from the sheet on demand, so only the sheet is in memory.
public struct SpriteSheet: Sendable {
    /// The pixels of the sheet.
    public let pixels: PixelBuffer
    /// The parts in display order, in pixels of the sheet. All parts have the same size.
    public let parts: [PixelRect]
    /// The duration of each part, in milliseconds.
    public let durations: [Int]

    /// Creates a sprite sheet with parts at arbitrary positions.
    ///
    /// - Parameters:
    ///   - parts: The parts, at least one. They must be within the sheet and have the same size. They may overlap and
    ///     repeat.
    ///   - durations: The duration of each part, in milliseconds.
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)``.
    public init(_ pixels: PixelBuffer, parts: [PixelRect], durations: [Int]) throws(ImageError) {
        guard let first = parts.first else { throw .request(.invalidOption(name: "parts", value: "none")) }
        guard parts.count == durations.count else {
            throw .request(.invalidOption(name: "durations", value: "\(durations.count) for \(parts.count) parts"))
        }
        for part in parts where part.size != first.size || part.clamped(to: pixels.size) != part {
            throw .request(
                .invalidOption(name: "parts", value: "\(part.size) at \(part.x), \(part.y) of \(pixels.size)"))
        }
        self.pixels = pixels
        self.parts = parts
        self.durations = durations
    }

    /// Creates a sprite sheet whose parts are the cells of a grid, row by row from the top left.
    ///
    /// - Parameters:
    ///   - columns, rows: The dimensions of the grid. The cells are as large as possible.
    ///   - count: The number of cells to show. The default is `nil`, which means all cells.
    ///   - spacing: The distance between two cells, in pixels. The default is 0.
    ///   - milliseconds: The duration of each cell. The default is 100.
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)``.
    public init(
        _ pixels: PixelBuffer, columns: Int, rows: Int, count: Int? = nil, spacing: Int = 0, milliseconds: Int = 100
    ) throws(ImageError) {
        let width = Self.cell(pixels.width, columns, spacing)
        let height = Self.cell(pixels.height, rows, spacing)
        guard let width, let height else {
            throw .request(
                .invalidOption(name: "grid", value: "\(columns) x \(rows), \(spacing) apart, in \(pixels.size)"))
        }
        let number = count ?? columns * rows
        guard (1...columns * rows).contains(number) else {
            throw .request(.invalidOption(name: "count", value: "\(number) of \(columns * rows)"))
        }
        let parts = (0..<number).map {
            PixelRect(
                x: $0 % columns * (width + spacing), y: $0 / columns * (height + spacing), width: width, height: height)
        }
        try self.init(pixels, parts: parts, durations: Array(repeating: milliseconds, count: number))
    }

    /// Returns an animation of the parts.
    ///
    /// - Parameter loopCount: The number of times to play the animation, where 0 repeats indefinitely. The default is
    ///   0.
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)``.
    public func animation(loopCount: Int = 0) throws(ImageError) -> ImageAnimation {
        try ImageAnimation(
            frameDurations: durations, loopCount: loopCount, size: parts[0].size, cost: pixels.byteCount
        ) { [pixels, parts] (place) throws(ImageError) in
            try pixels.copy(of: parts[place])
        }
    }

    /// Returns the length of one cell in pixels, or `nil` if the cells don't fit or the arguments are invalid.
    private static func cell(_ length: Int, _ count: Int, _ spacing: Int) -> Int? {
        guard (1...length).contains(count), (0...length).contains(spacing) else { return nil }
        let (gaps, overflow) = (count - 1).multipliedReportingOverflow(by: spacing)
        guard !overflow, gaps < length, (length - gaps) / count > 0 else { return nil }
        return (length - gaps) / count
    }
}

extension PixelBuffer {
    /// Returns the pixels of `part`, which must be within the image.
    fileprivate func copy(of part: PixelRect) throws(ImageError) -> PixelBuffer {
        let canvas = try PixelCanvas(size: part.size, format: format)
        let pixel = format.bytesPerPixel
        withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            for row in 0..<part.height {
                (canvas.baseAddress + row * canvas.bytesPerRow).copyMemory(
                    from: start + (part.y + row) * bytesPerRow + part.x * pixel, byteCount: part.width * pixel)
            }
        }
        return canvas.finish(isOpaque: isOpaque)
    }
}
