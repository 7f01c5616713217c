// SPDX-License-Identifier: MIT

extension Limits {
    /// - Throws: a ``LimitError`` of kind encodedBytes.
    public func check(encodedBytes: Int) throws(ImageError) {
        guard encodedBytes <= maxEncodedBytes else {
            throw .limit(LimitError(.encodedBytes, limit: maxEncodedBytes, actual: encodedBytes))
        }
    }

    /// Checks what a header claims, before anything is allocated for it.
    ///
    /// - Parameters:
    ///   - probe: the header.
    ///   - encodedBytes: size of the whole file in bytes.
    ///   - frames: a request for one frame is not refused for the number of the others.
    /// - Throws: a ``LimitError``.
    public func check(_ probe: ImageProbe, encodedBytes: Int, frames: DecodeOptions.Frames = .all)
        throws(ImageError)
    {
        let area = try check(size: probe.rawSize)
        let wanted = frames == .all ? probe.frameCount : 1
        // A preset with one frame means: show the poster of animations, not: refuse them.
        if maxFrames > 1, wanted > maxFrames {
            throw .limit(LimitError(.frames, limit: maxFrames, actual: wanted))
        }
        guard area <= maxTotalPixels else {
            throw .limit(LimitError(.totalPixels, limit: maxTotalPixels, actual: area))
        }
        // Below 4 megapixels a wrong claim costs little, and tiny files may be legitimately flat.
        guard checksPlausibility, area > 4_000_000, encodedBytes < probe.smallestFile else { return }
        throw .limit(
            LimitError(
                .plausibility, limit: probe.smallestFile, actual: encodedBytes,
                detail: "\(probe.format) \(probe.rawSize)"))
    }

    /// Checks the sides and the area of a picture, of a result as well as of a claim.
    ///
    /// - Returns: width × height.
    /// - Throws: a ``LimitError`` of kind side or pixels.
    @discardableResult
    public func check(size: PixelSize) throws(ImageError) -> Int {
        let side = max(size.width, size.height)
        guard side <= maxSide else { throw .limit(LimitError(.side, limit: maxSide, actual: side)) }
        guard let area = size.area, area <= maxPixels else {
            throw .limit(LimitError(.pixels, limit: maxPixels, actual: size.area ?? .max))
        }
        return area
    }

    /// Checks a decoder's or a transformer's result.
    ///
    /// - Throws: a ``LimitError``.
    public func check(result image: Image) throws(ImageError) {
        try check(size: image.size)
        guard image.pixels.byteCount <= maxDecodedBytes else {
            throw .limit(LimitError(.decodedBytes, limit: maxDecodedBytes, actual: image.pixels.byteCount))
        }
    }
}
