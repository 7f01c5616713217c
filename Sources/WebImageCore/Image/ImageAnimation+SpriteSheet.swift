// SPDX-License-Identifier: MIT

/// Animations whose frames are regions of one image. The regions are copied from the image on demand, so only the image
/// is in memory.
extension ImageAnimation {
    /// Creates an animation from regions of one image, all with the same duration.
    ///
    /// - Parameters:
    ///   - spriteSheet: The image that contains the frames.
    ///   - regions: The regions in display order, in pixels, at least one. They must be within the image and have the
    ///     same size. They may overlap and repeat.
    ///   - frameDuration: The duration of each frame. The default is 100 ms.
    ///   - loopCount: The number of times to play the animation, where 0 repeats indefinitely. The default is 0.
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)``.
    public convenience init(
        spriteSheet: PixelBuffer, regions: some Sequence<PixelRect>, frameDuration: Duration = .milliseconds(100),
        loopCount: Int = 0
    ) throws(ImageError) {
        try self.init(
            spriteSheet: spriteSheet, frames: regions.map { (region: $0, duration: frameDuration) },
            loopCount: loopCount)
    }

    /// Creates an animation from regions of one image, each with its own duration.
    ///
    /// - Parameters:
    ///   - spriteSheet: The image that contains the frames.
    ///   - frames: The regions and durations in display order, at least one. The regions are in pixels. They must be
    ///     within the image and have the same size. They may overlap and repeat.
    ///   - loopCount: The number of times to play the animation, where 0 repeats indefinitely. The default is 0.
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)``.
    public convenience init(
        spriteSheet: PixelBuffer, frames: some Sequence<(region: PixelRect, duration: Duration)>, loopCount: Int = 0
    ) throws(ImageError) {
        let frames = Array(frames)
        let regions = frames.map { $0.region }
        guard let first = regions.first else { throw .request(.invalidOption(name: "regions", value: "none")) }
        for region in regions where region.size != first.size || region.clamped(to: spriteSheet.size) != region {
            throw .request(
                .invalidOption(
                    name: "regions", value: "\(region.size) at \(region.x), \(region.y) of \(spriteSheet.size)"))
        }
        try self.init(
            frameDurations: frames.map { $0.duration }, loopCount: loopCount, size: first.size,
            cost: spriteSheet.byteCount
        ) { (index) throws(ImageError) in
            try spriteSheet.copy(of: regions[index])
        }
    }

    /// Creates an animation from the cells of a grid, row by row from the top left.
    ///
    /// - Parameters:
    ///   - spriteSheet: The image that contains the cells.
    ///   - columns: The number of columns. The cells are as large as possible.
    ///   - rows: The number of rows.
    ///   - frameCount: The number of cells to show. The default is `nil`, which means all cells.
    ///   - spacing: The distance between two cells, in pixels. The default is 0.
    ///   - frameDuration: The duration of each frame. The default is 100 ms.
    ///   - loopCount: The number of times to play the animation, where 0 repeats indefinitely. The default is 0.
    /// - Throws: ``ImageError/RequestFailure/invalidOption(name:value:)``.
    public convenience init(
        spriteSheet: PixelBuffer, columns: Int, rows: Int, frameCount: Int? = nil, spacing: Int = 0,
        frameDuration: Duration = .milliseconds(100), loopCount: Int = 0
    ) throws(ImageError) {
        let width = ImageAnimation.cell(spriteSheet.width, columns, spacing)
        let height = ImageAnimation.cell(spriteSheet.height, rows, spacing)
        guard let width, let height else {
            throw .request(
                .invalidOption(name: "grid", value: "\(columns) x \(rows), \(spacing) apart, in \(spriteSheet.size)"))
        }
        let number = frameCount ?? columns * rows
        guard (1...columns * rows).contains(number) else {
            throw .request(.invalidOption(name: "frameCount", value: "\(number) of \(columns * rows)"))
        }
        let regions = (0..<number).map {
            PixelRect(
                x: $0 % columns * (width + spacing), y: $0 / columns * (height + spacing), width: width, height: height)
        }
        try self.init(spriteSheet: spriteSheet, regions: regions, frameDuration: frameDuration, loopCount: loopCount)
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
