// SPDX-License-Identifier: MIT

import WebImageCore

/// The frames of a picture that is being encoded; a still is one frame.
struct FramesToEncode {
    let size: PixelSize
    /// 0 is for ever.
    let loopCount: Int
    /// Milliseconds per frame.
    let durations: [Int]
    private let image: Image
    private let format: ImageFormat
    private let maxSide: Int
    private let context: CodingContext

    /// - Parameters:
    ///   - image: what ``ImageEncoding/frames`` left of the picture.
    ///   - maxSide: the format's, in pixels.
    /// - Throws: ``RequestError/invalidOption(name:value:)``, a ``LimitError``,
    ///   ``TransformError/encodingFailed(format:reason:)``.
    init(_ image: Image, as encoding: ImageEncoding, maxSide: Int, context: CodingContext) throws(ImageError) {
        let loops = encoding.loopCount ?? image.animation?.timeline.loopCount ?? 1
        guard loops >= 0 else { throw .request(.invalidOption(name: "loopCount", value: "\(loops)")) }
        let durations = image.animation?.timeline.durations ?? [0]
        guard durations.count <= max(1, context.limits.maxFrames) else {
            throw .limit(LimitError(.frames, limit: context.limits.maxFrames, actual: durations.count))
        }
        try context.limits.check(size: image.size)
        self.size = image.size
        self.loopCount = loops
        self.durations = durations
        self.image = image
        self.format = encoding.format
        self.maxSide = maxSide
        self.context = context
        try requireEncodable(image.pixels, as: encoding.format, maxSide: maxSide)
    }

    var count: Int { durations.count }
    var isAnimation: Bool { count > 1 }

    /// The pixels of one frame, 8 bits a sample.
    ///
    /// - Throws: what is wrong with the frame, a deadline or a cancellation.
    func pixels(at place: Int) throws(ImageError) -> PixelBuffer {
        try context.checkpoint()
        guard let animation = image.animation else { return try image.pixels.eightBits(context: context) }
        let pixels = try animation.frame(at: place).eightBits(context: context)
        try requireEncodable(pixels, as: format, maxSide: maxSide)
        guard pixels.size == size else {
            let reason = "frame \(place) has \(pixels.size) pixels, the first \(size)"
            throw .transform(.encodingFailed(format: format, reason: reason))
        }
        return pixels
    }

    /// Whether no frame has transparency; decodes them until one has, for formats that must know first.
    func areOpaque() throws(ImageError) -> Bool {
        for place in 0..<count {
            let pixels = try pixels(at: place)
            if !pixels.isOpaque { return false }
        }
        return true
    }
}
