// SPDX-License-Identifier: MIT

import Foundation

extension ImageInfo {
    /// Creates a probe result from the header of a whole file.
    ///
    /// - Throws: An ``ImageError/DecodingFailure``, or ``ImageError/LimitFailure/Kind/metadataSize`` if a part exceeds
    ///   the bounds of the parser.
    public init(data: Data) throws(ImageError) {
        switch Self.probe(data, isComplete: true) {
        case .found(let probe): self = probe
        case .failed(let error): throw error
        case .needsMore: throw .decoding(.unknownFormat)
        }
    }

    /// Reads the header from the beginning of a file, like ``probe(_:isComplete:)-(UnsafeRawBufferPointer,_)``.
    package static func probe(_ data: Data, isComplete: Bool) -> ProbeOutcome {
        data.withUnsafeBytes { probe($0, isComplete: isComplete) }
    }

    /// Reads the header from the beginning of a file, with at most linear time and constant memory.
    ///
    /// If a header was found, more data may still provide more information, such as the exact number of frames. In PNG
    /// and WebP, the orientation may also be stored after the pixels.
    ///
    /// - Parameters:
    ///   - bytes: The first bytes of the file.
    ///   - isComplete: Whether this is the whole file. If so, the result is never
    ///     ``ProbeOutcome/needsMore(byteCount:)``.
    package static func probe(_ bytes: UnsafeRawBufferPointer, isComplete: Bool) -> ProbeOutcome {
        guard !bytes.isEmpty else {
            return isComplete ? .failed(.decoding(.noData)) : .needsMore(byteCount: 1)
        }
        let view = HeaderBytes(bytes, isComplete: isComplete)
        var format: ImageFormat?
        do throws(HeaderParsingError) {
            format = try FormatSniffer.format(view)
            guard let format else { return .failed(.decoding(.unknownFormat)) }
            return .found(try read(view, format))
        } catch {
            return outcome(of: error, format, received: bytes.count, isComplete: isComplete)
        }
    }

    /// Returns whether probing and sniffing agree on `bytes`, read as the beginning of a file and as a whole file.
    ///
    /// The fuzzers call this function with arbitrary data, for which it must return `true`.
    package static func isProbedConsistently(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if case .needsMore(let byteCount) = probe(bytes, isComplete: false), byteCount <= bytes.count { return false }
        switch probe(bytes, isComplete: true) {
        case .needsMore: return false
        case .found(let info):
            return ImageFormat.sniff(bytes) == info.format && !info.size.isEmpty && info.frameCount > 0
                && info.smallestFile >= 0
        case .failed: return true
        }
    }

    private static func outcome(
        of stop: HeaderParsingError, _ format: ImageFormat?, received: Int, isComplete: Bool
    ) -> ProbeOutcome {
        switch (stop, format) {
        case (.failed(let error), _): .failed(error)
        case (.needsMore(let count), _) where !isComplete: .needsMore(byteCount: count)
        case (_, nil): .failed(.decoding(.unknownFormat))
        case (_, let format?): .failed(stop.imageError(format, received: received))
        }
    }

    private static func read(_ bytes: HeaderBytes, _ format: ImageFormat) throws(HeaderParsingError) -> ImageInfo {
        switch format {
        case .jpeg: try JPEGProbe.read(bytes)
        case .png: try PNGProbe.read(bytes)
        case .gif: try GIFProbe.read(bytes)
        case .webp: try WebPProbe.read(bytes)
        case .bmp: try BMPProbe.read(bytes)
        case .qoi: try QOIProbe.read(bytes)
        case .pbm, .pgm, .ppm, .pam: try PNMProbe.read(bytes)
        case .ico, .cur: try ICOProbe.read(bytes, format: format)
        case .icns: try ICNSProbe.read(bytes)
        case .tiff: try TIFFProbe.read(bytes)
        case .cr3, .dng, .nef, .arw, .cr2, .orf, .pef, .raf, .rw2, .raw:
            try RAWPreview.header(bytes, format: format)
        case .jpeg2000: try JPEG2000Probe.read(bytes)
        case .avif, .heif: try HEIFProbe.read(bytes, format: format)
        case .jxl: try JXLProbe.read(bytes)
        case .svg: try SVGProbe.read(bytes)
        case .pdf: try PDFProbe.read(bytes)
        default: throw .failed(.decoding(.notAnImage(format)))
        }
    }
}
