// SPDX-License-Identifier: MIT

import CJPEG
import Glibc
import WebImageCore

/// A decoder for one JPEG file, which owns a handle of libjpeg.
struct JPEGReader: ~Copyable {
    let size: PixelSize
    let depth: Int
    let colorModel: ColorSpaceModel
    /// Whether the image has several scans, so that libjpeg stores all coefficients.
    let hasScans: Bool
    /// The size of all coefficients, in bytes, which libjpeg stores if the image has several scans.
    let coefficientBytes: Int
    private let handle: OpaquePointer
    private let received: Int
    private let context: ImageProcessingContext

    /// The maximum number of scans. Files with more scans only waste processor time.
    static let maxScans = 100
    /// The maximum size of a profile in bytes. Larger profiles are ignored.
    static let maxProfileBytes = 4 << 20

    /// Reads the header. `bytes` must outlive the reader. Throws an ``ImageError/DecodingFailure`` or an
    /// ``ImageError/LimitFailure``.
    init(_ bytes: UnsafeBufferPointer<UInt8>, context: ImageProcessingContext) throws(ImageError) {
        let handle = wi_jpeg_decoder_open(
            bytes.baseAddress, bytes.count, Self.memory(context.limits), Int32(Self.maxScans))
        guard let handle else { throw .decoding(.outOfMemory(byteCount: 0)) }
        var info = wi_jpeg_info()
        let status = wi_jpeg_decoder_header(handle, &info)
        guard status == WI_JPEG_OK else {
            let failure = Self.failure(status, handle, bytes.count, context.limits)
            wi_jpeg_decoder_close(handle)
            throw failure
        }
        self.handle = handle
        self.received = bytes.count
        self.context = context
        self.size = PixelSize(width: Int(info.width), height: Int(info.height))
        self.depth = Int(info.bits)
        self.hasScans = info.has_scans != 0
        self.coefficientBytes = Int(clamping: info.coefficient_bytes)
        self.colorModel = info.is_cmyk != 0 ? .cmyk : info.components == 1 ? .gray : .rgb
    }

    deinit { wi_jpeg_decoder_close(handle) }

    /// Returns the maximum memory of libjpeg in bytes, or 0 for no maximum.
    static func memory(_ limits: ImageLimits) -> Int {
        let memory = limits.maxCoefficientBytes
        return memory == .max ? 0 : memory
    }

    func iccProfile() -> [UInt8]? { Self.iccProfile(of: handle) }

    static func iccProfile(of handle: OpaquePointer) -> [UInt8]? {
        var count = 0
        guard let bytes = wi_jpeg_decoder_icc(handle, maxProfileBytes, &count) else { return nil }
        defer { free(bytes) }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Decodes all rows at the scale 1 ÷ `denominator`, converts the colors of each row, and returns whether rows are
    /// missing. Unless `allowsPartial` is `true`, so that libjpeg fills missing rows, they cause an error.
    func decode(denominator: Int, allowsPartial: Bool, color: ColorConversion?, isFinal: Bool = false)
        throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool)
    {
        if color?.source == .cmyk { wi_jpeg_decoder_keep_ink(handle) }
        var width: UInt32 = 0
        var height: UInt32 = 0
        try check(wi_jpeg_decoder_start(handle, UInt32(denominator), &width, &height))
        let canvas = try PixelCanvas.forDecoding(
            PixelSize(width: Int(width), height: Int(height)), context: context)
        try absorb()
        var row = 0
        while row < canvas.size.height {
            try context.checkCancellation()
            var done: UInt32 = 0
            let wanted = UInt32(min(rowsPerCheckpoint, canvas.size.height - row))
            try check(wi_jpeg_decoder_rows(handle, canvas.row(row), canvas.bytesPerRow, wanted, &done))
            guard done == wanted else { throw .decoding(.corrupted(format: .jpeg, reason: "a row is missing")) }
            color?.convert(canvas, rows: row..<row + Int(done))
            row += Int(done)
            if isFinal { canvas.reportFinished(rows: row) }
        }
        let isPartial = try isTruncated(allowsPartial: allowsPartial)
        return (canvas.finish(isOpaque: true), isPartial)
    }

    /// The number of rows to decode before they're added to the result.
    private static let band = 32

    /// Decodes all rows and adds them to the result, so that the image is never completely in memory. The orientation
    /// isn't applied. The other parameters and the result are those of ``decode(denominator:allowsPartial:color:isFinal:)``.
    func decodeRows(
        _ layout: DecodeLayout, allowsPartial: Bool, color: ColorConversion?
    ) throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool) {
        if color?.source == .cmyk { wi_jpeg_decoder_keep_ink(handle) }
        var width: UInt32 = 0
        var height: UInt32 = 0
        try check(wi_jpeg_decoder_start(handle, 1, &width, &height))
        var resampler = try layout.rowResampler(.rgba8, context: context)
        try absorb()
        var row = 0
        // Also decode the rows below the window, so that corrupt data in them is detected.
        while row < Int(height) {
            try context.checkCancellation()
            let count = min(Self.band, Int(height) - row)
            let canvas = try PixelCanvas(size: PixelSize(width: Int(width), height: count))
            var done: UInt32 = 0
            try check(wi_jpeg_decoder_rows(handle, canvas.row(0), canvas.bytesPerRow, UInt32(count), &done))
            guard Int(done) == count else { throw .decoding(.corrupted(format: .jpeg, reason: "a row is missing")) }
            color?.convert(canvas, rows: 0..<count)
            let rows = canvas.finish(isOpaque: true)
            if !resampler.isComplete { try resampler.add(rows, context: context) }
            row += count
        }
        let isPartial = try isTruncated(allowsPartial: allowsPartial)
        return (resampler.finish(isOpaque: true), isPartial)
    }

    /// Returns whether rows are missing. Throws an ``ImageError/DecodingFailure`` if they're missing although that
    /// isn't allowed.
    private func isTruncated(allowsPartial: Bool) throws(ImageError) -> Bool {
        let isTruncated = wi_jpeg_decoder_is_truncated(handle) != 0
        if isTruncated, !allowsPartial {
            throw .decoding(.truncated(format: .jpeg, receivedBytes: received, expectedBytes: nil))
        }
        return isTruncated
    }

    private func absorb() throws(ImageError) {
        while true {
            try context.checkCancellation()
            let status = wi_jpeg_decoder_absorb(handle, Int32(rowsPerCheckpoint))
            if status == WI_JPEG_OK { return }
            if status != WI_JPEG_MORE { try check(status) }
        }
    }

    private func check(_ status: wi_jpeg_status) throws(ImageError) {
        guard status != WI_JPEG_OK else { return }
        throw Self.failure(status, handle, received, context.limits)
    }

    static func failure(
        _ status: wi_jpeg_status, _ handle: OpaquePointer, _ received: Int, _ limits: ImageLimits
    ) -> ImageError {
        let words = String(cString: wi_jpeg_decoder_message(handle))
        return switch status {
        case WI_JPEG_TRUNCATED: .decoding(.truncated(format: .jpeg, receivedBytes: received, expectedBytes: nil))
        case WI_JPEG_UNSUPPORTED: .decoding(.unsupportedFeature(format: .jpeg, feature: words))
        case WI_JPEG_SCANS:
            .limitExceeded(
                ImageError.LimitFailure(.metadataSize, limit: maxScans, actual: maxScans + 1, detail: "JPEG scans"))
        case WI_JPEG_MEMORY: .decoding(.outOfMemory(byteCount: limits.maxDecodedBytes))
        default: .decoding(.corrupted(format: .jpeg, reason: words))
        }
    }
}
