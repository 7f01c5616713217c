// SPDX-License-Identifier: MIT

import WebImageCore

/// The frames of an image to encode. A still image has one frame.
struct EncodableFrames {
    let size: PixelSize
    /// The number of times to play the animation, where 0 repeats indefinitely.
    let loopCount: Int
    /// The durations of the frames, in milliseconds.
    let durations: [Int]
    private let image: DecodedImage
    private let format: ImageFormat
    private let maxDimension: Int
    private let context: ImageProcessingContext

    /// Creates the frames of an image to which ``ImageEncoding/frames`` was applied. `maxDimension` is the maximum
    /// width and height of the format, in pixels. Throws ``ImageError/RequestFailure/invalidOption(name:value:)``, an
    /// ``ImageError/LimitFailure``, or ``ImageError/ProcessingFailure/encodingFailed(format:reason:)``.
    init(_ image: DecodedImage, as encoding: ImageEncoding, maxDimension: Int, context: ImageProcessingContext)
        throws(ImageError)
    {
        let loops = encoding.loopCount ?? image.animation?.loopCount ?? 1
        guard loops >= 0 else { throw .request(.invalidOption(name: "loopCount", value: "\(loops)")) }
        let durations = image.animation?.timeline.durations ?? [0]
        guard durations.count <= max(1, context.limits.maxFrames) else {
            throw .limitExceeded(
                ImageError.LimitFailure(.frameCount, limit: context.limits.maxFrames, actual: durations.count))
        }
        try context.limits.check(image.size)
        self.size = image.size
        self.loopCount = loops
        self.durations = durations
        self.image = image
        self.format = encoding.formatOrAutomatic
        self.maxDimension = maxDimension
        self.context = context
        try requireEncodable(image.pixels, as: format, maxDimension: maxDimension)
    }

    var count: Int { durations.count }
    var isAnimation: Bool { count > 1 }

    /// Returns the pixels of one frame, with 8 bits per sample. Throws if the frame can't be decoded or encoded, or if
    /// the operation times out or is canceled.
    func pixels(at place: Int) throws(ImageError) -> PixelBuffer {
        try context.checkCancellation()
        guard let animation = image.animation else { return try image.pixels.eightBits(context: context) }
        let pixels = try animation.frame(at: place).eightBits(context: context)
        try requireEncodable(pixels, as: format, maxDimension: maxDimension)
        guard pixels.size == size else {
            let reason = "the size of frame \(place) is \(pixels.size), but the size of frame 0 is \(size)"
            throw .processing(.encodingFailed(format: format, reason: reason))
        }
        return pixels
    }

    /// Returns whether all frames are opaque, for formats whose header requires this information. This method decodes
    /// frames until it finds one with transparency.
    func areOpaque() throws(ImageError) -> Bool {
        for place in 0..<count {
            let pixels = try pixels(at: place)
            if !pixels.isOpaque { return false }
        }
        return true
    }
}
