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
        let format = probe?.format ?? options.formatHint
        let prefix = data.prefix(64)
        var failures: [DecodeError] = []
        for coder in coders.reversed() where coder.canDecode(format, prefix: prefix) {
            do {
                let image = try coder.decode(data, probe: probe, options: options, context: context)
                try context.limits.check(result: image)
                return image
            } catch {
                guard case .decode(let failure) = error else { throw error }
                failures.append(failure)
            }
        }
        switch failures.count {
        case 0: throw .decode(format.map { .noCoder($0) } ?? .unknownFormat)
        case 1: throw .decode(failures[0])
        default: throw .decode(.allCodersFailed(failures))
        }
    }

    /// Encodes `image`. Blocks; call it on a worker thread.
    ///
    /// - Throws: family 5xxx, ``RequestError/cancelled``.
    public func encode(_ image: Image, as encoding: ImageEncoding, context: CodingContext)
        throws(ImageError) -> Data
    {
        if let quality = encoding.quality, !(1...100).contains(quality) {
            throw .request(.invalidOption(name: "quality", value: "\(quality)"))
        }
        guard let coder = coders.last(where: { $0.canEncode(encoding.format) }) else {
            throw .transform(.noEncoder(encoding.format))
        }
        var rest = encoding
        rest.frames = .all
        return try coder.encode(try image.taking(encoding.frames), as: rest, context: context)
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
        guard let format = ImageFormat.sniff(data) else {
            let prefix = data.prefix(64)
            guard coders.contains(where: { $0.canDecode(options.formatHint, prefix: prefix) }) else {
                throw .decode(.unknownFormat)
            }
            return nil
        }
        guard format.isPicture else { throw .decode(.notAnImage(format)) }
        let probe = try ImageProbe(reading: data)
        try limits.check(probe, encodedBytes: data.count, frames: options.frames)
        return probe
    }
}
