// SPDX-License-Identifier: MIT

extension Limits {
    /// Checks the size of the encoded data.
    ///
    /// - Throws: A ``LimitError`` of the kind ``LimitError/Kind/encodedBytes``.
    public func check(encodedBytes: Int) throws(ImageError) {
        guard encodedBytes <= maxEncodedBytes else {
            throw .limit(LimitError(.encodedBytes, limit: maxEncodedBytes, actual: encodedBytes))
        }
    }

    /// Checks the claims of a header before any memory is allocated for them.
    ///
    /// - Parameters:
    ///   - probe: The header.
    ///   - encodedBytes: The size of the whole file, in bytes.
    ///   - frames: The requested frames. A request for one frame isn't rejected because of the number of other frames.
    /// - Throws: A ``LimitError``.
    public func check(_ probe: ImageProbe, encodedBytes: Int, frames: DecodeOptions.Frames = .all)
        throws(ImageError)
    {
        let area = try check(size: probe.rawSize)
        let wanted = frames == .all ? probe.frameCount : 1
        // A preset with a limit of one frame shows the poster frame of animations instead of rejecting them.
        if maxFrames > 1, wanted > maxFrames {
            throw .limit(LimitError(.frames, limit: maxFrames, actual: wanted))
        }
        guard area <= maxTotalPixels else {
            throw .limit(LimitError(.totalPixels, limit: maxTotalPixels, actual: area))
        }
        // Below 4 megapixels, a false claim costs little, and a legitimate file of a single color can be tiny.
        guard checksPlausibility, area > 4_000_000, encodedBytes < probe.smallestFile else { return }
        throw .limit(
            LimitError(
                .plausibility, limit: probe.smallestFile, actual: encodedBytes,
                detail: "\(probe.format) \(probe.rawSize)"))
    }

    /// Checks the sides and the area of an image. The size may be the claim of a header or that of a result.
    ///
    /// - Returns: The product of width and height.
    /// - Throws: A ``LimitError`` of the kind ``LimitError/Kind/side`` or ``LimitError/Kind/pixels``.
    @discardableResult
    public func check(size: PixelSize) throws(ImageError) -> Int {
        let side = max(size.width, size.height)
        guard side <= maxSide else { throw .limit(LimitError(.side, limit: maxSide, actual: side)) }
        guard let area = size.area, area <= maxPixels else {
            throw .limit(LimitError(.pixels, limit: maxPixels, actual: size.area ?? .max))
        }
        return area
    }

    /// Checks the result of a decoder or a transformer.
    ///
    /// - Throws: A ``LimitError``.
    public func check(result image: Image) throws(ImageError) {
        try check(size: image.size)
        guard image.pixels.byteCount <= maxDecodedBytes else {
            throw .limit(LimitError(.decodedBytes, limit: maxDecodedBytes, actual: image.pixels.byteCount))
        }
    }
}
