// SPDX-License-Identifier: MIT

/// The properties of an image that its header declares. Reading them doesn't require decoding.
public struct ImageInfo: Sendable, Hashable {
    /// The format of the data.
    public package(set) var format: ImageFormat
    /// The stored size, in pixels.
    public package(set) var storedSize: PixelSize
    /// The size of the visible part of the stored image before the EXIF orientation is applied (`clap` in HEIF and
    /// AVIF), or `nil` if the whole image is visible.
    package var cleanAperture: PixelSize?
    /// The orientation that the file declares.
    public package(set) var orientation: ImageOrientation
    /// The number of bits per sample.
    public package(set) var bitDepth: Int
    /// A Boolean value that indicates whether the file can contain transparency.
    public package(set) var hasAlpha: Bool
    /// The number of frames or, for icons, TIFF, and HEIF, of images in the file. The value is a lower bound if the
    /// header doesn't contain a reliable number and the file wasn't read to its end.
    public package(set) var frameCount: Int
    /// Whether ``frameCount`` is exact.
    package var frameCountIsExact: Bool
    /// The number of times to play an animation, where 0 repeats indefinitely, as in ``ImageAnimation/loopCount``. For
    /// still images without a stored number, the value is 1.
    public package(set) var loopCount: Int
    /// A Boolean value that indicates whether the file has an embedded ICC profile.
    public package(set) var hasICCProfile: Bool
    /// The code points that describe the colors of the file (`cICP` in PNG, `nclx` in AVIF and HEIF), or `nil` if the
    /// file has none.
    package var codePoints: ColorCodePoints?
    /// A Boolean value that indicates whether the image is a progressive JPEG or an interlaced PNG or GIF.
    public package(set) var isProgressive: Bool
    /// The minimum size of a complete file with this header in bytes, or 0 if the format has no such bound.
    package var smallestFile: Int
    /// Whether the file is a WebP file with lossless coding.
    package var isLosslessWebP: Bool
    /// The number of rows that a TIFF file stores together, in a strip or in a row of tiles. The value is `nil` if all
    /// rows are stored together and for other formats. Camera RAW files have a value only if they're decoded as TIFF
    /// files, because they have no JPEG preview. It's the maximum of `Int` if all rows are stored together.
    package var rowsPerUnit: Int?
    /// The number of pixels that the decoder produces for the image, if it's larger than the stored size: the sum of
    /// all tiles and layers, with the sizes in the parameter sets of HEVC and AV1. Otherwise, the value is 0.
    package var codedPixelCount = 0
    /// Whether the end marker of a whole file is missing, although the file may contain all pixels. Only GIF and PNG
    /// files are checked.
    package var isTruncated = false
    /// The detail of a JPEG image. It depends on the quantization and on the beginning of the first scan. Other images have
    /// ordinary detail.
    package var detail = StoredDetail.ordinary
    /// The memory that the decoder needs in addition to the pixels, in bytes.
    package var decoderBytes = 0

    /// Creates a probe result.
    package init(
        format: ImageFormat, storedSize: PixelSize, orientation: ImageOrientation = .up, bitDepth: Int = 8,
        hasAlpha: Bool = false, frameCount: Int = 1, frameCountIsExact: Bool = true, loopCount: Int = 1,
        hasICCProfile: Bool = false, isProgressive: Bool = false, smallestFile: Int = 0,
        cleanAperture: PixelSize? = nil, codePoints: ColorCodePoints? = nil, isLosslessWebP: Bool = false,
        rowsPerUnit: Int? = nil
    ) {
        self.format = format
        self.storedSize = storedSize
        self.orientation = orientation
        self.bitDepth = bitDepth
        self.hasAlpha = hasAlpha
        self.frameCount = frameCount
        self.frameCountIsExact = frameCountIsExact
        self.loopCount = loopCount
        self.hasICCProfile = hasICCProfile
        self.isProgressive = isProgressive
        self.smallestFile = smallestFile
        self.cleanAperture = cleanAperture
        self.codePoints = codePoints
        self.isLosslessWebP = isLosslessWebP
        self.rowsPerUnit = rowsPerUnit
    }

    /// The size of the visible image in pixels, with the EXIF orientation applied.
    public var size: PixelSize { orientation.upright(cleanAperture ?? storedSize) }
}

extension ImageInfo {
    /// Removes the orientation of a gain map, to which the orientation of its image applies.
    package mutating func resetOrientation() { orientation = .up }

    /// The number of tiles whose decoders are included in the limits.
    private static let freeTiles = 256
    /// The memory that libheif and libde265 retain for each tile until the image is complete, in bytes.
    private static let tileBytes = 512 << 10

    /// Records the size in the parameter sets of an image sequence. The coded size is a multiple of the block size, which
    /// is at most 64, so a slightly larger size is expected.
    mutating func addCodedSize(_ size: PixelSize?) {
        guard let size, size.width - storedSize.width >= 64 || size.height - storedSize.height >= 64 else { return }
        codedPixelCount = max(codedPixelCount, size.area ?? .max)
    }

    mutating func addCost(_ cost: HEIFItemGraph.Cost) {
        codedPixelCount = max(codedPixelCount, cost.pixels > storedSize.area ?? .max ? cost.pixels : 0)
        let (bytes, overflow) = max(0, cost.tiles - Self.freeTiles).multipliedReportingOverflow(by: Self.tileBytes)
        decoderBytes = max(decoderBytes, overflow ? .max : bytes)
    }
}

/// The result of probing the beginning of a file.
package enum ProbeOutcome: Sendable, Hashable {
    /// The properties of the image.
    case found(ImageInfo)
    /// A request for more data. A total of at least `byteCount` bytes is necessary to continue.
    case needsMore(byteCount: Int)
    /// An error, because the data isn't an image in a known format, violates the rules of its format, or has parts that
    /// exceed the bounds of the parser (``ImageError/LimitFailure/Kind/metadataSize``).
    case failed(ImageError)
}
