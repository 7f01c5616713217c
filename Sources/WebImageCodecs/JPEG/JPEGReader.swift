// SPDX-License-Identifier: MIT

import CJPEG
import Glibc
import WebImageCore

/// One JPEG being decoded; owns libjpeg's handle.
struct JPEGReader: ~Copyable {
    /// What the header says.
    let size: PixelSize
    let depth: Int
    let colorModel: ColorSpaceModel
    private let handle: OpaquePointer
    private let received: Int
    private let context: CodingContext

    /// More scans than this in one file have no purpose but to cost time.
    static let maxScans = 100
    /// Longer profiles are ignored.
    static let maxProfileBytes = 4 << 20

    /// Reads the header. `bytes` must outlive the reader.
    ///
    /// - Throws: family 4xxx and 6xxx.
    init(_ bytes: UnsafeBufferPointer<UInt8>, context: CodingContext) throws(ImageError) {
        let handle = wi_jpeg_decoder_open(
            bytes.baseAddress, bytes.count, Self.memory(context.limits), Int32(Self.maxScans))
        guard let handle else { throw .decode(.outOfMemory(bytes: 0)) }
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
        self.colorModel = info.is_cmyk != 0 ? .cmyk : info.components == 1 ? .gray : .rgb
    }

    deinit { wi_jpeg_decoder_close(handle) }

    /// Bytes that libjpeg may take for itself, 0 for any number.
    static func memory(_ limits: Limits) -> Int {
        // Coefficients of a progressive 4:4:4 picture take 6 bytes a pixel, its RGBA pixels 4.
        let (memory, overflow) = limits.maxDecodedBytes.multipliedReportingOverflow(by: 2)
        return overflow ? 0 : max(memory, 16 << 20)
    }

    /// The smallest of 1/1, 1/2, 1/4 and 1/8 that keeps at least twice the wanted pixels.
    static func denominator(for layout: DecodeLayout) -> Int {
        [8, 4, 2].first { Double($0) <= layout.spareReduction } ?? 1
    }

    /// The embedded profile.
    func iccProfile() -> [UInt8]? { Self.iccProfile(of: handle) }

    static func iccProfile(of handle: OpaquePointer) -> [UInt8]? {
        var count = 0
        guard let bytes = wi_jpeg_decoder_icc(handle, maxProfileBytes, &count) else { return nil }
        defer { free(bytes) }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Decodes all rows at 1 ÷ `denominator` of the size.
    ///
    /// - Parameters:
    ///   - allowsPartial: whether rows that never arrived are filled by libjpeg instead of refused.
    ///   - color: what each row goes through.
    /// - Returns: the rows, and whether some never arrived.
    func decode(denominator: Int, allowsPartial: Bool, color: ColorConversion?)
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
            try context.checkpoint()
            var done: UInt32 = 0
            let wanted = UInt32(min(rowsPerCheckpoint, canvas.size.height - row))
            try check(wi_jpeg_decoder_rows(handle, canvas.row(row), canvas.bytesPerRow, wanted, &done))
            guard done == wanted else { throw .decode(.corrupt(format: .jpeg, reason: "a row is missing")) }
            color?.convert(canvas, rows: row..<row + Int(done))
            row += Int(done)
        }
        let isPartial = wi_jpeg_decoder_is_truncated(handle) != 0
        if isPartial, !allowsPartial {
            throw .decode(.truncated(format: .jpeg, received: received, expected: nil))
        }
        return (canvas.finish(isOpaque: true), isPartial)
    }

    private func absorb() throws(ImageError) {
        while true {
            try context.checkpoint()
            let status = wi_jpeg_decoder_absorb(handle, Int32(rowsPerCheckpoint))
            if status == WI_JPEG_OK { return }
            if status != WI_JPEG_MORE { try check(status) }
        }
    }

    private func check(_ status: wi_jpeg_status) throws(ImageError) {
        guard status != WI_JPEG_OK else { return }
        throw Self.failure(status, handle, received, context.limits)
    }

    /// What a status means to the caller.
    static func failure(
        _ status: wi_jpeg_status, _ handle: OpaquePointer, _ received: Int, _ limits: Limits
    ) -> ImageError {
        let words = String(cString: wi_jpeg_decoder_message(handle))
        return switch status {
        case WI_JPEG_TRUNCATED: .decode(.truncated(format: .jpeg, received: received, expected: nil))
        case WI_JPEG_UNSUPPORTED: .decode(.unsupported(format: .jpeg, feature: words))
        case WI_JPEG_SCANS:
            .limit(LimitError(.structure, limit: maxScans, actual: maxScans + 1, detail: "scans of a JPEG"))
        case WI_JPEG_MEMORY: .decode(.outOfMemory(bytes: limits.maxDecodedBytes))
        default: .decode(.corrupt(format: .jpeg, reason: words))
        }
    }
}
