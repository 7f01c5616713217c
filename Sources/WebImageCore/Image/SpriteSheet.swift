// SPDX-License-Identifier: MIT

/// A picture whose parts are the frames of an animation. The parts are cut out when they are shown; in memory there is
/// the sheet alone.
public struct SpriteSheet: Sendable {
    /// The sheet.
    public let pixels: PixelBuffer
    /// The parts in the order in which they are shown, in pixels of the sheet; all of the same size.
    public let parts: [PixelRect]
    /// Milliseconds per part.
    public let durations: [Int]

    /// Parts at any place.
    ///
    /// - Parameters:
    ///   - parts: at least one, within the sheet and of the same size; they may overlap and come more than once.
    ///   - durations: milliseconds, one for each part.
    /// - Throws: ``RequestError/invalidOption(name:value:)``.
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

    /// Cells of a grid, row by row from the top left.
    ///
    /// - Parameters:
    ///   - columns, rows: of the grid; the cells are as large as they fit.
    ///   - count: cells that are shown; nil is all of them. Default nil.
    ///   - spacing: pixels between two cells. Default 0.
    ///   - milliseconds: how long each is shown. Default 100.
    /// - Throws: ``RequestError/invalidOption(name:value:)``.
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

    /// The parts as an animation.
    ///
    /// - Parameter loopCount: how often it plays, 0 for ever. Default 0.
    /// - Throws: ``RequestError/invalidOption(name:value:)``.
    public func animation(loopCount: Int = 0) throws(ImageError) -> ImageAnimation {
        try ImageAnimation(
            durations: durations, loopCount: loopCount, size: parts[0].size, cost: pixels.byteCount
        ) { [pixels, parts] (place) throws(ImageError) in
            try pixels.copy(of: parts[place])
        }
    }

    /// Pixels of one cell; nil where there is not one for each, or the numbers are senseless.
    private static func cell(_ length: Int, _ count: Int, _ spacing: Int) -> Int? {
        guard (1...length).contains(count), (0...length).contains(spacing) else { return nil }
        let (gaps, overflow) = (count - 1).multipliedReportingOverflow(by: spacing)
        guard !overflow, gaps < length, (length - gaps) / count > 0 else { return nil }
        return (length - gaps) / count
    }
}

extension PixelBuffer {
    /// The pixels of `part`, which must lie within the picture.
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
