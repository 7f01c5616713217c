// SPDX-License-Identifier: MIT

import Foundation

/// The coders a manager may use, and the order of checks every decode goes through: encoded size, header,
/// limits, plausibility, coder, result.
public struct CoderRegistry: Sendable {
    private(set) var coders: [any ImageCoder]

    /// Creates a registry; the last coder is asked first.
    public init(_ coders: [any ImageCoder] = []) { self.coders = coders }

    /// Adds a coder that is asked before those already there.
    public mutating func register(_ coder: any ImageCoder) { coders.append(coder) }

    /// A registry in which `coder` gets everything within the limits, without being asked whether it wants it.
    public init(only coder: any ImageCoder) { coders = [ExclusiveCoder(coder: coder)] }

    /// Names of the coders, in the order in which they are asked.
    public var identifiers: [String] { coders.reversed().map(\.identifier) }

    /// Takes out every coder of this name (``ImageCoder/identifier``).
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public mutating func unregister(_ identifier: String) -> Bool {
        let count = coders.count
        coders.removeAll { $0.identifier == identifier }
        return coders.count < count
    }

    /// True when a coder would try data of `format`.
    public func canDecode(_ format: ImageFormat) -> Bool {
        coders.contains { $0.canDecode(format, prefix: Data()) }
    }

    /// True when a coder writes `format`.
    public func canEncode(_ format: ImageFormat) -> Bool { coders.contains { $0.canEncode(format) } }

    /// Decodes `data`. Blocks; call it on a worker thread.
    ///
    /// - Throws: families 4xxx and 6xxx, ``RequestError/cancelled``.
    public func decode(_ data: Data, options: DecodeOptions = DecodeOptions(), context: CodingContext)
        throws(ImageError) -> Image
    {
        let probe = try inspect(data, options: options, limits: context.limits)
        let format = probe?.format ?? options.usefulHint
        let prefix = data.prefix(64)
        var failures: [DecodeError] = []
        for coder in coders.reversed() where claims(coder, probe?.format, prefix, options) {
            do {
                let image = try coder.decode(data, probe: probe, options: options, context: context)
                try context.limits.check(result: image)
                return image.telling(options.color)
            } catch {
                guard case .decode(let failure, _) = error else { throw error }
                failures.append(failure)
            }
        }
        switch failures.count {
        case 0: throw .decode(format.map { .noCoder($0) } ?? .unknownFormat)
        case 1: throw .decode(failures[0])
        default: throw .decode(.allCodersFailed(failures))
        }
    }

    /// Whether `coder` wants the data: by its format, or where only an app's own coder can know that, by the hint or by
    /// the first bytes alone. A wrong hint takes nothing away.
    private func claims(
        _ coder: any ImageCoder, _ format: ImageFormat?, _ prefix: Data, _ options: DecodeOptions
    ) -> Bool {
        if let format { return coder.canDecode(format, prefix: prefix) }
        if let hint = options.usefulHint, coder.canDecode(hint, prefix: prefix) { return true }
        return coder.canDecode(nil, prefix: prefix)
    }

    /// Everything that is checked before a coder sees the bytes.
    ///
    /// - Returns: the header; nil where only an app's own coder can know the format.
    /// - Throws: families 4xxx and 6xxx.
    public func inspect(_ data: Data, options: DecodeOptions = DecodeOptions(), limits: Limits)
        throws(ImageError) -> ImageProbe?
    {
        guard !data.isEmpty else { throw .decode(.empty) }
        try limits.check(encodedBytes: data.count)
        let format = ImageFormat.sniff(data)
        guard let format, format.isPicture else {
            let prefix = data.prefix(64)
            if coders.contains(where: { claims($0, nil, prefix, options) }) { return nil }
            throw .decode(format.map { .notAnImage($0) } ?? .unknownFormat)
        }
        let probe = try ImageProbe(reading: data)
        try limits.check(probe, encodedBytes: data.count, frames: options.frames)
        return probe
    }
}

extension DecodeOptions {
    /// The hint, unless it names a format that sniffing would have told: such data must not pass the header's checks.
    fileprivate var usefulHint: ImageFormat? { formatHint.flatMap { $0.mediaType == nil ? $0 : nil } }
}

extension Image {
    /// The same picture, knowing what its colours mean.
    fileprivate func telling(_ color: DecodeOptions.Color) -> Image {
        guard metadata.color != color else { return self }
        var metadata = metadata
        metadata.color = color
        return with(metadata: metadata)
    }
}

/// Passes everything on to a coder that is not asked what it wants.
private struct ExclusiveCoder: ImageCoder {
    let coder: any ImageCoder

    var identifier: String { coder.identifier }

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { true }

    func decode(_ data: Data, probe: ImageProbe?, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> Image
    {
        try coder.decode(data, probe: probe, options: options, context: context)
    }

    func progressiveDecoder(probe: ImageProbe, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> (any ProgressiveDecoder)?
    {
        try coder.progressiveDecoder(probe: probe, options: options, context: context)
    }

    func canEncode(_ format: ImageFormat) -> Bool { coder.canEncode(format) }

    func encode(_ image: Image, as encoding: ImageEncoding, context: CodingContext) throws(ImageError) -> Data {
        try coder.encode(image, as: encoding, context: context)
    }

    func canTranscode(_ source: ImageFormat, to target: ImageFormat) -> Bool {
        coder.canTranscode(source, to: target)
    }

    func transcode(
        _ original: Data, from format: ImageFormat, as encoding: ImageEncoding, context: CodingContext
    ) throws(ImageError) -> Data? {
        try coder.transcode(original, from: format, as: encoding, context: context)
    }
}
