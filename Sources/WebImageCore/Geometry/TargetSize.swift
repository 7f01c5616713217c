// SPDX-License-Identifier: MIT

/// The requested size of an image. Only ``exact(width:height:unit:)`` enlarges images.
public struct TargetSize: Sendable, Hashable {
    /// The way an image is fitted into the requested box.
    package enum Mode: String, Sendable, Hashable {
        /// The whole image inside the box, with its aspect ratio preserved.
        case fit
        /// The box covered by the image, with the aspect ratio preserved and the excess cropped evenly.
        case fill
        /// Each side reduced to the box independently. The aspect ratio isn't preserved.
        case stretch
        /// Exactly the requested sides, enlarged if necessary. The aspect ratio isn't preserved.
        case exactly
        /// The sides multiplied by `width` and `height`, enlarged if the factors exceed 1.
        case scaled
        /// A limit in bytes for all decoded frames together, with the aspect ratio preserved.
        case bytes
    }

    /// The unit of a length.
    public enum Unit: Sendable, Hashable {
        /// Device pixels.
        case pixels
        /// Points, which are pixels divided by the scale of the request.
        case points
    }

    /// The way the image is fitted into the box.
    package var mode: Mode
    /// The requested width in `unit`. If the value is `nil`, the height and the aspect ratio determine the width.
    package var width: Double?
    /// The requested height in `unit`. If the value is `nil`, the width and the aspect ratio determine the height.
    package var height: Double?
    /// The limit for ``Mode/bytes``, for all frames together.
    package var byteLimit: Int?
    /// The unit of `width` and `height`.
    package var unit: Unit

    /// Returns a target that fits the whole image within `width` × `height` without enlarging it. A `nil` side isn't
    /// limited.
    public static func fit(width: Double? = nil, height: Double? = nil, unit: Unit = .pixels) -> TargetSize {
        TargetSize(mode: .fit, width: width, height: height, byteLimit: nil, unit: unit)
    }

    /// Returns a target that covers `width` × `height` and crops the excess evenly, without enlarging the image.
    public static func fill(width: Double, height: Double, unit: Unit = .pixels) -> TargetSize {
        TargetSize(mode: .fill, width: width, height: height, byteLimit: nil, unit: unit)
    }

    /// Returns a target that limits the sides to `width` and `height` independently. The aspect ratio isn't preserved.
    public static func stretch(width: Double, height: Double, unit: Unit = .pixels) -> TargetSize {
        TargetSize(mode: .stretch, width: width, height: height, byteLimit: nil, unit: unit)
    }

    /// Returns a target of exactly `width` × `height`. The image is enlarged if necessary, and its aspect ratio isn't
    /// preserved.
    public static func exact(width: Double, height: Double, unit: Unit = .pixels) -> TargetSize {
        TargetSize(mode: .exactly, width: width, height: height, byteLimit: nil, unit: unit)
    }

    /// Returns a target that multiplies the sides of the image. Factors greater than 1 enlarge it, and different factors
    /// don't preserve the aspect ratio.
    package static func scaled(width: Double, height: Double) -> TargetSize {
        TargetSize(mode: .scaled, width: width, height: height, byteLimit: nil, unit: .pixels)
    }

    /// Returns a target whose decoded pixels fit into `byteCount`, for all frames together.
    public static func fitting(byteCount: Int) -> TargetSize {
        TargetSize(mode: .bytes, width: nil, height: nil, byteLimit: byteCount, unit: .pixels)
    }

    /// Whether the size of the output depends on the number of frames.
    package var dependsOnFrameCount: Bool { mode == .bytes }

    /// A unique string for the target, for use in cache keys.
    package var identity: String {
        func text(_ value: Double?) -> String { value.map { "\($0)" } ?? "-" }
        return "\(mode):\(text(width)):\(text(height)):\(byteLimit.map(String.init) ?? "-"):\(unit)"
    }
}

/// The result of applying a ``TargetSize`` to an image: the part of the image to use and its size in the output.
package struct ScalePlan: Sendable, Hashable {
    /// The part of the image to use, in pixels with the EXIF orientation applied.
    package let window: SampleRect
    /// The size of the output in pixels. Both sides are at least one.
    package let output: PixelSize

    /// Creates a plan.
    package init(window: SampleRect, output: PixelSize) {
        self.window = window
        self.output = output
    }

    /// Returns whether the plan leaves an image of the given size unchanged.
    package func isIdentity(for size: PixelSize) -> Bool {
        output == size && window == SampleRect(size)
    }
}

extension TargetSize {
    /// Returns the size to which an image is decoded, for custom coders.
    ///
    /// ``fit(width:height:unit:)``, ``fill(width:height:unit:)``, and ``stretch(width:height:unit:)`` never return a
    /// size that exceeds `size`. For ``fitting(byteCount:)``, the result is the size of a still image with 8 bits per
    /// sample.
    ///
    /// - Parameters:
    ///   - size: The size of the image in pixels, with the EXIF orientation applied.
    ///   - scale: The number of pixels per point, for lengths in points. The default is 1.
    /// - Returns: The size of the decoded image in pixels. Both sides are at least one.
    /// - Throws: ``ImageError/RequestFailure/invalidSize(_:)`` if a length is NaN, infinite, zero, negative, or larger
    ///   than 2^30 pixels, or if a side of `size` is zero or negative.
    public func outputSize(for size: PixelSize, scale: Double = 1) throws(ImageError) -> PixelSize {
        guard !size.isEmpty else { throw .request(.invalidSize("\(size)")) }
        return try plan(for: size, scale: scale).output
    }

    /// Applies the target to an image.
    ///
    /// - Parameters:
    ///   - size: The size of the image in pixels, with the EXIF orientation applied.
    ///   - scale: The number of pixels per point, for lengths in points.
    ///   - frames: The number of decoded frames in memory, for ``fitting(byteCount:)``.
    ///   - format: The pixel format of the result, for ``fitting(byteCount:)``. The default is RGBA8.
    /// - Throws: ``ImageError/RequestFailure/invalidSize(_:)`` if a length is NaN, infinite, zero, negative, or larger
    ///   than 2^30 pixels.
    package func plan(
        for size: PixelSize, scale: Double = 1, frames: Int = 1, format: PixelFormat = .rgba8
    ) throws(ImageError) -> ScalePlan {
        if mode == .bytes { return try planForBytes(size, frames: frames, format: format) }
        let factor = unit == .points ? scale : 1
        let wantedWidth = try checked(width, times: mode == .scaled ? Double(size.width) : factor)
        let wantedHeight = try checked(height, times: mode == .scaled ? Double(size.height) : factor)
        let full = SampleRect(size)
        let ownWidth = Double(size.width)
        let ownHeight = Double(size.height)
        switch mode {
        case .fit:
            let ratio = min(1, (wantedWidth ?? .infinity) / ownWidth, (wantedHeight ?? .infinity) / ownHeight)
            return ScalePlan(window: full, output: scaled(size, by: ratio))
        case .stretch:
            let output = PixelSize(
                width: pixels(min(wantedWidth ?? ownWidth, ownWidth)),
                height: pixels(min(wantedHeight ?? ownHeight, ownHeight)))
            return ScalePlan(window: full, output: output)
        case .exactly, .scaled:
            let output = PixelSize(width: pixels(wantedWidth ?? ownWidth), height: pixels(wantedHeight ?? ownHeight))
            return ScalePlan(window: full, output: output)
        case .fill:
            return planForFill(size, wantedWidth ?? ownWidth, wantedHeight ?? ownHeight)
        case .bytes:
            return ScalePlan(window: full, output: size)
        }
    }

    private func planForFill(_ size: PixelSize, _ width: Double, _ height: Double) -> ScalePlan {
        let ratio = min(1, max(width / Double(size.width), height / Double(size.height)))
        let windowWidth = min(Double(size.width), width / ratio)
        let windowHeight = min(Double(size.height), height / ratio)
        let window = SampleRect(
            x: (Double(size.width) - windowWidth) / 2, y: (Double(size.height) - windowHeight) / 2,
            width: windowWidth, height: windowHeight)
        let output = PixelSize(width: pixels(windowWidth * ratio), height: pixels(windowHeight * ratio))
        return ScalePlan(window: window, output: output)
    }

    private func planForBytes(_ size: PixelSize, frames: Int, format: PixelFormat) throws(ImageError) -> ScalePlan {
        guard let byteLimit, byteLimit > 0 else {
            throw .request(.invalidSize("fitting(byteCount: \(byteLimit ?? 0))"))
        }
        let full = SampleRect(size)
        let perPicture = Double(byteLimit) / Double(max(1, frames)) / Double(format.bytesPerPixel)
        let own = Double(size.width) * Double(size.height)
        guard own > perPicture else { return ScalePlan(window: full, output: size) }
        let ratio = (perPicture / own).squareRoot()
        let output = PixelSize(
            width: max(1, Int(Double(size.width) * ratio)), height: max(1, Int(Double(size.height) * ratio)))
        return ScalePlan(window: full, output: output)
    }

    private func scaled(_ size: PixelSize, by ratio: Double) -> PixelSize {
        guard ratio < 1 else { return size }
        return PixelSize(width: pixels(Double(size.width) * ratio), height: pixels(Double(size.height) * ratio))
    }

    private func checked(_ length: Double?, times factor: Double) throws(ImageError) -> Double? {
        guard let length else { return nil }
        let value = length * factor
        // 2^30 pixels exceed every limit, and Int and Double represent the value exactly.
        guard value.isFinite, value > 0, value <= 1_073_741_824 else {
            throw .request(.invalidSize("\(length)"))
        }
        return value
    }

    private func pixels(_ length: Double) -> Int { max(1, Int(length.rounded())) }
}
