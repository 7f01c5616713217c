// SPDX-License-Identifier: MIT

import CPNG
import WebImageCore

/// A decoder for one PNG file, which owns a handle of libpng.
struct PNGReader: ~Copyable {
    let size: PixelSize
    let depth: Int
    /// Whether the image has an alpha channel or transparent colors.
    let hasAlpha: Bool
    /// The color information in the chunks, except for the profile.
    let color: PNGColor
    private let info: wi_png_info
    private let handle: OpaquePointer
    private let bytes: UnsafeBufferPointer<UInt8>
    private let keepsPartial: Bool
    private var received: Int { bytes.count }
    let context: ImageProcessingContext

    /// The maximum memory that libpng may allocate for one chunk, such as a profile or a palette, in bytes.
    static let maxChunkBytes = 8 << 20
    /// The maximum size of a profile in bytes. Larger profiles are ignored.
    static let maxProfileBytes = 4 << 20

    /// Reads all data before the pixels. `bytes` must outlive the reader. If `keepsPartial` is `true`, the reader reads
    /// in small steps, so that fewer rows are lost if the data is truncated. If `ignoresCheck` is `true`, the checksum
    /// of the compressed pixels is known to be wrong. Throws an ``ImageError/DecodingFailure``.
    init(
        _ bytes: UnsafeBufferPointer<UInt8>, keepsPartial: Bool, ignoresCheck: Bool = false,
        context: ImageProcessingContext
    ) throws(ImageError) {
        guard let handle = wi_png_decoder_open(bytes.baseAddress, bytes.count, Self.maxChunkBytes) else {
            throw .decoding(.outOfMemory(byteCount: 0))
        }
        if ignoresCheck { wi_png_decoder_ignore_check(handle) }
        var info = wi_png_info()
        let status = wi_png_decoder_header(handle, keepsPartial ? 1 : 0, &info)
        guard status == WI_PNG_OK else {
            let failure = Self.failure(status, handle, bytes.count)
            wi_png_decoder_close(handle)
            throw failure
        }
        self.handle = handle
        self.bytes = bytes
        self.keepsPartial = keepsPartial
        self.context = context
        self.info = info
        self.size = PixelSize(width: Int(info.width), height: Int(info.height))
        self.depth = Int(info.bits)
        self.hasAlpha = info.has_alpha != 0
        var colors = wi_png_colors()
        wi_png_decoder_colors(handle, &colors)
        self.color = PNGColor(colors)
    }

    var isInterlaced: Bool { info.is_interlaced != 0 }

    /// Whether the checksums of all chunks of the complete file are correct.
    var hasValidChecks: Bool { wi_png_has_valid_checks(bytes.baseAddress, bytes.count) }

    /// Whether libpng has decoded all rows although their checksum is wrong or missing.
    var isDamaged: Bool { wi_png_decoder_is_damaged(handle) != 0 }

    deinit { wi_png_decoder_close(handle) }

    /// Calls `body` with this reader and, if only the checksum of the compressed pixels is wrong, with another reader that
    /// ignores it. libpng can report the wrong checksum before it writes the last row.
    func retrying<Result>(
        _ body: (borrowing PNGReader) throws(ImageError) -> Result
    ) throws(ImageError) -> Result {
        do throws(ImageError) {
            return try body(self)
        } catch {
            guard wi_png_decoder_failed_check(handle) != 0 else { throw error }
            let reader = try PNGReader(bytes, keepsPartial: keepsPartial, ignoresCheck: true, context: context)
            return try body(reader)
        }
    }

    func iccProfile() -> [UInt8]? {
        var count = 0
        guard let bytes = wi_png_decoder_icc(handle, &count), count <= Self.maxProfileBytes else { return nil }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Returns the profile for the metadata, which describes the samples of the file.
    func describingProfile(_ profile: [UInt8]?, for colors: DecodedColors) -> [UInt8]? {
        colors.describingProfile(profile, or: color.equivalentProfile(isGray: info.is_gray != 0))
    }

    /// Returns the conversion to sRGB, or `nil` if the pixels stay unchanged.
    func conversion(profile: [UInt8]?) -> ColorConversion? {
        color.conversion(profile: profile, isGray: info.is_gray != 0)
    }

    /// Decodes all rows, and returns whether some are missing or the checksum of the compressed pixels is wrong.
    /// Missing rows are transparent, or they contain the pixels from an earlier pass of an interlaced image. The color
    /// conversion applies to each row, and 16-bit samples are rounded to 8 bits afterward, unless `preservesBitDepth`
    /// is `true`.
    func decode(allowsPartial: Bool, color: ColorConversion?, preservesBitDepth: Bool = false)
        throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool)
    {
        var completion = Completion.whole
        let reading = PixelImporter(
            size, depth: depth, preservesBitDepth: preservesBitDepth, color: color, isZeroed: info.is_interlaced != 0)
        let pixels = try reading.pixels(context: context) { (canvas) throws(ImageError) in
            completion = try read(into: canvas, allowsPartial: allowsPartial)
            return .init(hasAlpha: hasAlpha || completion == .rowsMissing)
        }
        return (pixels, completion != .whole)
    }

    /// The state of the rows after decoding.
    private enum Completion {
        case whole
        /// All rows were decoded, but the checksum of the compressed pixels is wrong or missing.
        case unverified
        case rowsMissing
    }

    /// Returns the fast decoder for the image, or `nil` if only libpng can decode it.
    func wholeDecoder() throws(ImageError) -> PNGFastDecoder? {
        switch info.plain_channels {
        case 1:
            var table = [UInt32](repeating: 0, count: 256)
            let status = wi_png_decoder_table(handle, &table)
            guard status == WI_PNG_OK else { throw Self.failure(status, handle, received) }
            return PNGFastDecoder(size, .indices(bits: depth, table: table))
        case 2: return PNGFastDecoder(size, .grayAlpha)
        case 3, 4: return PNGFastDecoder(size, .colors(channels: Int(info.plain_channels)))
        default: return nil
        }
    }

    private func read(into canvas: borrowing PixelCanvas, allowsPartial: Bool) throws(ImageError) -> Completion {
        if let whole = try wholeDecoder(),
            case .decoded(let isVerified) = try whole.decode(bytes, into: canvas, context: context)
        {
            return isVerified ? .whole : .unverified
        }
        for _ in 0..<(try start(canvas.format)) {
            if try readRows(into: canvas, allowsPartial: allowsPartial) != nil { return .rowsMissing }
        }
        return isDamaged ? .unverified : .whole
    }

    /// Starts decoding with libpng, and returns the number of passes.
    func start(_ format: PixelFormat) throws(ImageError) -> Int {
        var passes: Int32 = 0
        let started = wi_png_decoder_start(handle, format.layout.isWide ? 1 : 0, &passes)
        guard started == WI_PNG_OK else { throw Self.failure(started, handle, received) }
        return Int(passes)
    }

    /// Reads the rows of `canvas`, and returns the error that ended them early.
    func readRows(into canvas: borrowing PixelCanvas, allowsPartial: Bool) throws(ImageError) -> ImageError? {
        var finished = 0
        while finished < canvas.size.height {
            try context.checkCancellation()
            var done: UInt32 = 0
            let wanted = UInt32(min(rowsPerCheckpoint, canvas.size.height - finished))
            let status = wi_png_decoder_rows(handle, canvas.row(finished), canvas.bytesPerRow, wanted, &done)
            finished += Int(done)
            guard status != WI_PNG_OK else { continue }
            let failure = Self.failure(status, handle, received)
            guard allowsPartial, failure.isTruncation else { throw failure }
            if info.is_interlaced == 0 { canvas.clearRows(from: finished) }
            return failure
        }
        return nil
    }

    private static func failure(_ status: wi_png_status, _ handle: OpaquePointer, _ received: Int) -> ImageError {
        switch status {
        case WI_PNG_TRUNCATED: .decoding(.truncated(format: .png, receivedBytes: received, expectedBytes: nil))
        case WI_PNG_MEMORY: .decoding(.outOfMemory(byteCount: maxChunkBytes))
        default: .decoding(.corrupted(format: .png, reason: String(cString: wi_png_decoder_message(handle))))
        }
    }
}
