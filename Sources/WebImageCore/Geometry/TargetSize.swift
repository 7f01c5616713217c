// SPDX-License-Identifier: MIT

/// The size a picture is wanted at. Apart from ``exactly(width:height:unit:)`` no mode enlarges.
public struct TargetSize: Sendable, Hashable {
    /// How the picture and the wanted box come together.
    public enum Mode: Sendable, Hashable {
        /// The whole picture inside the box, aspect ratio kept.
        case fit
        /// The box covered, aspect ratio kept, the overhang cut off evenly.
        case fill
        /// Each side brought down to the box's by itself; aspect ratio not kept.
        case stretch
        /// Exactly these sides, enlarging where needed; aspect ratio not kept.
        case exactly
        /// Aspect ratio kept, all decoded frames together at most so many bytes.
        case bytes
    }

    /// What a length means.
    public enum Unit: Sendable, Hashable {
        /// Device pixels.
        case pixels
        /// Pixels ÷ the request's scale.
        case points
    }

    /// How the picture and the box come together.
    public var mode: Mode
    /// Wanted width in `unit`; nil leaves it to the height and the aspect ratio.
    public var width: Double?
    /// Wanted height in `unit`; nil leaves it to the width and the aspect ratio.
    public var height: Double?
    /// Limit for ``Mode/bytes``, RGBA8, all frames counted.
    public var byteLimit: Int?
    /// The unit of `width` and `height`.
    public var unit: Unit

    /// The whole picture within `width` × `height`, never enlarged. A side left out is free.
    public static func fit(width: Double? = nil, height: Double? = nil, unit: Unit = .pixels) -> TargetSize {
        TargetSize(mode: .fit, width: width, height: height, byteLimit: nil, unit: unit)
    }

    /// `width` × `height` covered, the overhang cut off evenly, never enlarged.
    public static func fill(width: Double, height: Double, unit: Unit = .pixels) -> TargetSize {
        TargetSize(mode: .fill, width: width, height: height, byteLimit: nil, unit: unit)
    }

    /// Each side at most `width` and `height`, aspect ratio not kept.
    public static func stretch(width: Double, height: Double, unit: Unit = .pixels) -> TargetSize {
        TargetSize(mode: .stretch, width: width, height: height, byteLimit: nil, unit: unit)
    }

    /// Exactly `width` × `height`, the one mode that may enlarge; aspect ratio not kept.
    public static func exactly(width: Double, height: Double, unit: Unit = .pixels) -> TargetSize {
        TargetSize(mode: .exactly, width: width, height: height, byteLimit: nil, unit: unit)
    }

    /// As large as fits into `bytes` of decoded RGBA8 pixels, all frames counted.
    public static func fitting(bytes: Int) -> TargetSize {
        TargetSize(mode: .bytes, width: nil, height: nil, byteLimit: bytes, unit: .pixels)
    }

    /// A text that differs for every two targets, for cache keys.
    public var identity: String {
        func text(_ value: Double?) -> String { value.map { "\($0)" } ?? "-" }
        return "\(mode):\(text(width)):\(text(height)):\(byteLimit.map(String.init) ?? "-"):\(unit)"
    }
}

/// A ``TargetSize`` worked out for one picture: which part of it, and how many pixels that becomes.
public struct ScalePlan: Sendable, Hashable {
    /// The part of the upright picture that is used, in its pixels.
    public let window: SampleRect
    /// The pixels it becomes; both sides at least one.
    public let output: PixelSize

    /// Creates a plan.
    public init(window: SampleRect, output: PixelSize) {
        self.window = window
        self.output = output
    }

    /// True when the picture stays as it is.
    public func isIdentity(for size: PixelSize) -> Bool {
        output == size && window == SampleRect(size)
    }
}

extension TargetSize {
    /// Works the target out for a picture.
    ///
    /// - Parameters:
    ///   - size: the picture's upright size in pixels.
    ///   - scale: pixels per point, for lengths given in points.
    ///   - frames: frames held decoded, for ``fitting(bytes:)``.
    ///   - format: of the result, for ``fitting(bytes:)``. Default RGBA8.
    /// - Throws: ``RequestError/invalidSize(_:)`` for lengths that are NaN, infinite, zero or negative.
    public func plan(
        for size: PixelSize, scale: Double = 1, frames: Int = 1, format: PixelFormat = .rgba8
    ) throws(ImageError) -> ScalePlan {
        if mode == .bytes { return try planForBytes(size, frames: frames, format: format) }
        let factor = unit == .points ? scale : 1
        let wantedWidth = try checked(width, times: factor)
        let wantedHeight = try checked(height, times: factor)
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
        case .exactly:
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
            throw .request(.invalidSize("fitting(bytes: \(byteLimit ?? 0))"))
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
        // 2^30 pixels is beyond every limit, and far inside what Int and Double hold exactly.
        guard value.isFinite, value > 0, value <= 1_073_741_824 else {
            throw .request(.invalidSize("\(length)"))
        }
        return value
    }

    private func pixels(_ length: Double) -> Int { max(1, Int(length.rounded())) }
}
