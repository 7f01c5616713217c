// SPDX-License-Identifier: MIT

extension ImageLimits {
    /// Checks the size of the encoded data.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` of the kind ``ImageError/LimitFailure/Kind/encodedSize``.
    package func check(encodedBytes: Int) throws(ImageError) {
        guard encodedBytes <= maxEncodedBytes else {
            throw .limitExceeded(ImageError.LimitFailure(.encodedSize, limit: maxEncodedBytes, actual: encodedBytes))
        }
    }

    /// Checks the claims of a header before any memory is allocated for them.
    ///
    /// - Parameters:
    ///   - probe: The header.
    ///   - encodedBytes: The size of the whole file, in bytes.
    ///   - frames: The requested frames. A request for one frame isn't rejected because of the number of other frames.
    ///   - requirements: The requirements of the decoder, or `nil` if it holds the whole image. The default is `nil`.
    /// - Throws: An ``ImageError/LimitFailure``.
    package func check(
        _ probe: ImageInfo, encodedBytes: Int, frames: FrameSelection = .all, requirements: DecodingRequirements? = nil
    ) throws(ImageError) {
        let area = try checkedArea(of: requirements?.size ?? probe.storedSize)
        if let requirements { try check(coefficientBytes: requirements.coefficientBytes) }
        let sourceArea = try checkedSourceArea(of: probe.storedSize)
        try checkParts(of: probe, area: area)
        let wanted = frames.coderSelection == .all ? probe.frameCount : 1
        // A preset with a limit of one frame shows the poster frame of animations instead of rejecting them.
        if maxFrames > 1, wanted > maxFrames {
            throw .limitExceeded(ImageError.LimitFailure(.frameCount, limit: maxFrames, actual: wanted))
        }
        guard area <= maxAnimationPixels else {
            throw .limitExceeded(ImageError.LimitFailure(.animationPixelCount, limit: maxAnimationPixels, actual: area))
        }
        // Below 4 megapixels, a false claim costs little, and a legitimate file of a single color can be tiny.
        guard rejectsImplausibleFiles, sourceArea > 4_000_000, encodedBytes < probe.smallestFile else { return }
        throw .limitExceeded(
            ImageError.LimitFailure(
                .implausibleSize, limit: probe.smallestFile, actual: encodedBytes,
                detail: "\(probe.format) \(probe.storedSize)"))
    }

    /// Checks the tiles and layers of an image, and the sizes in its parameter sets.
    ///
    /// - Parameter area: The product of width and height of the result.
    private func checkParts(of probe: ImageInfo, area: Int) throws(ImageError) {
        guard probe.codedPixelCount <= maxPixels else {
            throw .limitExceeded(
                ImageError.LimitFailure(
                    .pixelCount, limit: maxPixels, actual: probe.codedPixelCount,
                    detail: "the coded size of all parts of the image"))
        }
        guard probe.decoderBytes > 0 else { return }
        let (pixels, isHuge) = area.multipliedReportingOverflow(by: PixelFormat.rgba8.bytesPerPixel)
        let (total, isLarger) = pixels.addingReportingOverflow(probe.decoderBytes)
        let actual = isHuge || isLarger ? Int.max : total
        guard actual <= maxDecodedBytes else {
            throw .limitExceeded(
                ImageError.LimitFailure(
                    .decodedSize, limit: maxDecodedBytes, actual: actual,
                    detail: "including \(probe.decoderBytes) bytes for decoders"))
        }
    }

    /// Checks the claims of a header and accepts the file if a decoder of this package can decode it at some size.
    ///
    /// Use this check if no coders are available and the requested size is unknown. Requests check the data again.
    ///
    /// - Throws: An ``ImageError/LimitFailure``.
    package func checkAtAnySize(_ probe: ImageInfo, encodedBytes: Int) throws(ImageError) {
        var requirements = probe.smallestDecodedSize.map { DecodingRequirements(size: $0, byteCount: 0) }
        requirements?.coefficientBytes = probe.coefficientBytes
        try check(probe, encodedBytes: encodedBytes, requirements: requirements)
    }

    /// The maximum size of the coefficients of a JPEG file with several scans, in bytes. They're in memory in addition to
    /// the pixels.
    package var maxCoefficientBytes: Int {
        // The coefficients of a progressive 4:4:4 image use 6 bytes per pixel, and its RGBA pixels use 4.
        let (bytes, overflow) = maxDecodedBytes.multipliedReportingOverflow(by: 2)
        return overflow ? .max : max(bytes, 16 << 20)
    }

    /// Checks the size of the coefficients of a JPEG file with several scans.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` of the kind ``ImageError/LimitFailure/Kind/decodedSize``.
    package func check(coefficientBytes: Int) throws(ImageError) {
        guard coefficientBytes <= maxCoefficientBytes else {
            throw .limitExceeded(
                ImageError.LimitFailure(
                    .decodedSize, limit: maxCoefficientBytes, actual: coefficientBytes,
                    detail: "the coefficients of a progressive JPEG file"))
        }
    }

    /// Checks the sides and the area of an image. The size may be the claim of a header or that of a result. Custom
    /// coders call this method before they allocate memory.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` of the kind ``ImageError/LimitFailure/Kind/dimension`` or
    ///   ``ImageError/LimitFailure/Kind/pixelCount``.
    public func check(_ size: PixelSize) throws(ImageError) { _ = try checkedArea(of: size) }

    /// Checks a size like ``check(_:)`` and returns the product of width and height.
    package func checkedArea(of size: PixelSize) throws(ImageError) -> Int {
        let side = max(size.width, size.height)
        guard side <= maxDimension else {
            throw .limitExceeded(ImageError.LimitFailure(.dimension, limit: maxDimension, actual: side))
        }
        guard let area = size.area, area <= maxPixels else {
            throw .limitExceeded(ImageError.LimitFailure(.pixelCount, limit: maxPixels, actual: size.area ?? .max))
        }
        return area
    }

    /// Checks the size in a header against ``maxSourcePixels`` and returns the product of width and height.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` of the kind ``ImageError/LimitFailure/Kind/sourcePixelCount``.
    @discardableResult
    package func checkedSourceArea(of size: PixelSize) throws(ImageError) -> Int {
        guard let area = size.area, area <= maxSourcePixels else {
            throw .limitExceeded(
                ImageError.LimitFailure(.sourcePixelCount, limit: maxSourcePixels, actual: size.area ?? .max))
        }
        return area
    }

    /// Checks the result of a decoder or a transformer.
    ///
    /// - Throws: An ``ImageError/LimitFailure``.
    package func check(result image: DecodedImage) throws(ImageError) {
        try check(image.size)
        guard image.pixels.byteCount <= maxDecodedBytes else {
            throw .limitExceeded(
                ImageError.LimitFailure(.decodedSize, limit: maxDecodedBytes, actual: image.pixels.byteCount))
        }
    }
}
