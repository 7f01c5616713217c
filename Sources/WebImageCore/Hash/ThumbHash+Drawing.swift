// SPDX-License-Identifier: MIT

extension ThumbHash {
    /// Returns the rendered placeholder.
    ///
    /// This method blocks. It's intended for small sizes that the view enlarges.
    ///
    /// - Parameter size: The size of the result in pixels. The default is `nil`, which means 32 pixels for the longer
    ///   side and the aspect ratio of the image.
    /// - Throws: ``ImageError/ProcessingFailure/invalidParameter(transformer:parameter:value:)`` if the size is empty,
    ///   or ``ImageError/limitExceeded(_:)`` if the result exceeds ``ImageLimits/desktop``.
    public func pixels(size: PixelSize? = nil) throws(ImageError) -> PixelBuffer {
        let context = ImageProcessingContext()
        let size = size ?? naturalSize
        guard !size.isEmpty else { throw ParameterValidator(transformer: "thumbHash").invalid("size", "\(size)") }
        try context.limits.check(result: size, format: .rgba8)
        let canvas = try PixelCanvas(size: size, cleared: false)
        let waves = channels.map { Drawing($0, size) }
        var checkpoints = CancellationChecker(context)
        for y in 0..<size.height {
            try checkpoints.count(pixels: size.width * 16)
            let lines = waves.map { $0.line(y) }
            let row = (canvas.baseAddress + y * canvas.bytesPerRow).samples8
            for x in 0..<size.width {
                let values = lines.indices.map { waves[$0].value(lines[$0], x) }
                let (red, green, blue) = Self.color(values[0], values[1], values[2])
                let alpha = hasAlpha ? max(0, min(1, values[3])) : 1
                for (channel, value) in [red, green, blue].enumerated() {
                    row[x * 4 + channel] = UInt8((max(0, min(1, value)) * alpha * 255).rounded())
                }
                row[x * 4 + 3] = UInt8((alpha * 255).rounded())
            }
        }
        canvas.clearPadding()
        return canvas.finish(isOpaque: !hasAlpha)
    }

    /// A channel with the cosines for one size.
    private struct Drawing {
        private let channel: Channel
        private let componentIndices: [(x: Int, y: Int)]
        private let across: CosineTable
        private let down: CosineTable

        init(_ channel: Channel, _ size: PixelSize) {
            self.channel = channel
            componentIndices = Channel.componentIndices(columns: channel.columns, rows: channel.rows)
            across = CosineTable(components: channel.columns, length: size.width, offset: 0.5)
            down = CosineTable(components: channel.rows, length: size.height, offset: 0.5)
        }

        /// Returns the coefficients of the components in row `y`.
        func line(_ y: Int) -> [Double] {
            var factors = [Double](repeating: 0, count: channel.columns)
            factors[0] = channel.mean
            for (place, wave) in zip(componentIndices, channel.waves) {
                factors[place.x] += wave * 2 * down[place.y, y]
            }
            return factors
        }

        func value(_ factors: [Double], _ x: Int) -> Double {
            factors.indices.reduce(0) { $0 + factors[$1] * across[$1, x] }
        }
    }
}
