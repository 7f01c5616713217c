// SPDX-License-Identifier: MIT

import Foundation

/// The available coders, and the checks that precede and follow each decode.
///
/// The checks run in this order: encoded size, header, limits, plausibility, coder, and result.
public struct ImageCoderRegistry: Sendable {
    private(set) var coders: [any ImageCoder]

    /// Creates a registry. The last coder is tried first.
    public init(_ coders: some Sequence<any ImageCoder> = []) { self.coders = Array(coders) }

    /// Adds a coder that's tried before the existing coders.
    public mutating func register(_ coder: any ImageCoder) { coders.append(coder) }

    /// Creates a registry in which `coder` receives all data within the limits, without being queried for the format.
    package init(only coder: any ImageCoder) { coders = [UnconditionalCoder(coder: coder)] }

    /// Returns the registry in which `replace` has replaced coders.
    ///
    /// - Parameter replace: A function that receives each coder in the order in which the coders were added, and returns
    ///   the coder that takes its place.
    package func mapping(_ replace: (any ImageCoder) -> any ImageCoder) -> ImageCoderRegistry {
        ImageCoderRegistry(coders.map(replace))
    }

    /// Returns the coder with a name that's tried first, or `nil` if no coder has the name.
    package func coder(named identifier: String) -> (any ImageCoder)? {
        coders.last { $0.identifier == identifier }
    }

    /// The names of the coders, in the order in which they're tried.
    public var identifiers: [String] { coders.reversed().map(\.identifier) }

    /// Removes all coders with a name, which is their ``ImageCoder/identifier``.
    ///
    /// - Returns: Whether a coder was removed.
    @discardableResult
    public mutating func unregister(_ identifier: String) -> Bool {
        let count = coders.count
        coders.removeAll { $0.identifier == identifier }
        return coders.count < count
    }

    /// Returns whether a coder accepts data of `format`.
    public func canDecode(_ format: ImageFormat) -> Bool {
        coders.contains { $0.canDecode(format, prefix: Data()) }
    }

    /// Returns whether a coder encodes `format`.
    public func canEncode(_ format: ImageFormat) -> Bool { coders.contains { $0.canEncode(format) } }

    /// Decodes `data`. This method blocks, so call it on a worker thread.
    ///
    /// - Parameters:
    ///   - data: The whole file.
    ///   - options: The decoding options. The default decodes all frames at the size of the image.
    ///   - context: The limits and the cancellation. The scale comes from the options. The default has the limits
    ///     ``ImageLimits/desktop``.
    /// - Throws: An ``ImageError/DecodingFailure`` or an ``ImageError/LimitFailure``, or ``ImageError/cancelled``.
    public func decode(
        _ data: Data, options: ImageDecodingOptions = ImageDecodingOptions(),
        context: ImageProcessingContext = ImageProcessingContext()
    ) throws(ImageError) -> DecodedImage {
        let context = context.scale == options.scale ? context : context.with(scale: options.scale)
        let probe = try inspect(data, options: options, limits: context.limits)
        let format = probe?.format ?? options.usefulHint
        let selection = options.frames
        let requested = options
        var options = options
        options.frames = selection.coderSelection
        if let probe { options = options.adapted(to: probe, of: data) }
        let prefix = data.prefix(64)
        var failures: [ImageError.DecodingFailure] = []
        for coder in coders.reversed() where claims(coder, probe?.format, prefix, options) {
            do {
                if let probe { try check(probe, for: coder, data, options, context.limits) }
                let image = try coder.decode(data, info: probe, options: options, context: context)
                try context.limits.check(result: image)
                let converted = image.with(color: options.color(of: image)).decoded(with: requested)
                    .described(by: data)
                let selected = selection == options.frames ? converted : try converted.selecting(selection)
                guard options.dynamicRange == .pq, let coder = coder as? any ColorPreparingCoder else {
                    return selected
                }
                return try coder.displayedInPQ(selected, context: context)
            } catch {
                guard case .decoding(let failure) = error else { throw error }
                failures.append(failure)
            }
        }
        switch failures.count {
        case 0: throw .decoding(format.map { .noDecoder($0) } ?? .unknownFormat)
        case 1: throw .decoding(failures[0])
        default: throw .decoding(.allDecodersFailed(failures))
        }
    }

    /// Returns whether `coder` accepts the data.
    ///
    /// If the library knows the format, only the format counts. Otherwise, a custom coder may accept the data because
    /// of the hint or because of the first bytes. A wrong hint doesn't exclude any coder.
    func claims(
        _ coder: any ImageCoder, _ format: ImageFormat?, _ prefix: Data, _ options: ImageDecodingOptions
    ) -> Bool {
        if let format { return coder.canDecode(format, prefix: prefix) }
        if let hint = options.usefulHint, coder.canDecode(hint, prefix: prefix) { return true }
        return coder.canDecode(nil, prefix: prefix)
    }

    /// Runs all checks that precede the coder.
    ///
    /// - Parameters:
    ///   - data: The whole file.
    ///   - options: The decoding options.
    ///   - limits: The limits.
    ///   - anySize: Whether the data is accepted if it can be decoded at some size. The default is `false`, so that it
    ///     must be possible to decode the data at the size in `options`.
    /// - Returns: The header, or `nil` if only a custom coder recognizes the format.
    /// - Throws: An ``ImageError/DecodingFailure`` or an ``ImageError/LimitFailure``.
    package func inspect(
        _ data: Data, options: ImageDecodingOptions = ImageDecodingOptions(), limits: ImageLimits, anySize: Bool = false
    ) throws(ImageError) -> ImageInfo? {
        guard !data.isEmpty else { throw .decoding(.noData) }
        // Check the size before any work on the data.
        try limits.check(encodedBytes: data.count)
        let format = ImageFormat(sniffing: data)
        guard let format, format.isImage else {
            let prefix = data.prefix(64)
            if coders.contains(where: { claims($0, nil, prefix, options) }) { return nil }
            throw .decoding(format.map { .notAnImage($0) } ?? .unknownFormat)
        }
        let probe = try ImageInfo(data: data)
        try check(probe, of: data, options: options, limits: limits, anySize: anySize)
        return probe
    }

    /// Checks data whose header is known against limits, like ``inspect(_:options:limits:anySize:)``.
    ///
    /// - Parameters:
    ///   - info: The header, or `nil` if only a custom coder recognizes the format.
    ///   - data: The whole file.
    ///   - options: The decoding options.
    ///   - limits: The limits.
    ///   - anySize: Whether the data is accepted if it can be decoded at some size.
    /// - Throws: An ``ImageError/LimitFailure``.
    package func check(
        _ info: ImageInfo?, of data: Data, options: ImageDecodingOptions, limits: ImageLimits, anySize: Bool
    ) throws(ImageError) {
        try limits.check(encodedBytes: data.count)
        guard let info else { return }
        var judged = options
        if anySize { judged.size = .fit(width: 1, height: 1) }
        let prefix = data.prefix(64)
        let coder = coders.last { $0.canDecode(info.format, prefix: prefix) }
        try check(info, for: coder, data, judged, limits)
    }

    private func check(
        _ probe: ImageInfo, for coder: (any ImageCoder)?, _ data: Data, _ options: ImageDecodingOptions,
        _ limits: ImageLimits
    ) throws(ImageError) {
        let requirements = coder?.requirementsIfReducing(probe, options)
        do throws(ImageError) {
            try limits.check(probe, encodedBytes: data.count, frames: options.frames, requirements: requirements)
        } catch {
            // A decoder reduces the image more than usual if the limits require it.
            guard error.isOfPixelSize, let smallest = coder?.requirementsOfRows(probe, options),
                (try? limits.check(probe, encodedBytes: data.count, frames: options.frames, requirements: smallest))
                    != nil
            else { throw error }
        }
    }
}

extension ImageError {
    /// Whether an image has too many pixels or is too wide or too tall.
    fileprivate var isOfPixelSize: Bool {
        guard case .limitExceeded(let failure) = self else { return false }
        return failure.kind == .pixelCount || failure.kind == .dimension
    }
}

extension ImageDecodingOptions {
    fileprivate func color(of image: DecodedImage) -> ImageColorSpace {
        // Coders choose the color space if the options don't determine it: to keep a gamut, and for PQ and HLG. Custom
        // coders never set it.
        if image.metadata.color != .sRGB { return image.metadata.color }
        return keepsGamut ? .sRGB : color
    }

    /// The hint, unless it names a format that content sniffing detects. Otherwise, such data would bypass the checks
    /// of the header.
    fileprivate var usefulHint: ImageFormat? { formatHint.flatMap { $0.mimeType == nil ? $0 : nil } }
}

extension DecodedImage {
    fileprivate func with(color: ImageColorSpace) -> DecodedImage {
        let isConvertible = format?.hasConvertibleColors ?? false
        let color = color == .displayP3 && !isConvertible ? .sRGB : color
        guard metadata.color != color else { return self }
        var metadata = metadata
        metadata.describePixels(in: color)
        return with(metadata: metadata)
    }
}

extension DecodedImage {
    /// Returns the image with the descriptions and the rights that its encoded data contains, and with the information
    /// whether the data contains a gain map.
    ///
    /// The header was already checked. The search stops at the pixels of most formats, and costs microseconds.
    package func described(by data: Data) -> DecodedImage {
        let format = format ?? ImageFormat(sniffing: data)
        var described = data.withUnsafeBytes { bytes in
            metadata.described(by: HeaderBytes(bytes, isComplete: true), format)
        }
        described.hasGainMap = GainMapInfo.exists(in: data, format: format)
        return described == metadata ? self : with(metadata: described)
    }
}

/// A coder that accepts all data and forwards all calls to another coder.
private struct UnconditionalCoder: TranscodingImageCoder, ReducingImageCoder, ColorPreparingCoder {
    let coder: any ImageCoder

    var identifier: String { coder.identifier }

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { true }

    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        try coder.decode(data, info: info, options: options, context: context)
    }

    func makeProgressiveDecoder(info: ImageInfo, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> (any ProgressiveImageDecoder)?
    {
        try coder.makeProgressiveDecoder(info: info, options: options, context: context)
    }

    func requirements(
        for info: ImageInfo, options: ImageDecodingOptions, isIncremental: Bool
    ) -> DecodingRequirements? {
        coder.requirementsIfReducing(info, options, isIncremental: isIncremental)
    }

    func canEncode(_ format: ImageFormat) -> Bool { coder.canEncode(format) }

    func encode(
        _ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext
    ) throws(ImageError) -> Data {
        try coder.encode(image, as: encoding, context: context)
    }

    func prepared(
        _ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        try (coder as? any ColorPreparingCoder)?.prepared(image, as: encoding, context: context) ?? image
    }

    func displayedInPQ(_ image: DecodedImage, context: ImageProcessingContext) throws(ImageError) -> DecodedImage {
        try (coder as? any ColorPreparingCoder)?.displayedInPQ(image, context: context) ?? image
    }

    func canTranscode(_ source: ImageFormat, to target: ImageFormat) -> Bool {
        (coder as? any TranscodingImageCoder)?.canTranscode(source, to: target) ?? false
    }

    func transcode(
        _ original: Data, from format: ImageFormat, as encoding: ImageEncoding, context: ImageProcessingContext
    ) throws(ImageError) -> Data? {
        try (coder as? any TranscodingImageCoder)?.transcode(original, from: format, as: encoding, context: context)
    }
}
