// SPDX-License-Identifier: MIT

import Foundation

/// The pixels that a decoder holds while it reduces an image to the requested size.
package struct DecodingRequirements: Sendable, Hashable {
    /// The size of the largest image that the decoder holds, in pixels.
    package var size: PixelSize
    /// The estimated memory of the decode, including its result, in bytes.
    package var byteCount: Int
    /// The size of the coefficients of a progressive JPEG file, in bytes, which the decoder holds in addition.
    package var coefficientBytes = 0

    /// Creates requirements.
    package init(size: PixelSize, byteCount: Int) {
        self.size = size
        self.byteCount = byteCount
    }
}

/// A coder that reduces some images to the requested size while it decodes them.
package protocol ReducingImageCoder: ImageCoder {
    /// Returns the requirements of ``ImageCoder/decode(_:info:options:context:)``, or `nil` if the decoder holds the
    /// whole image.
    func requirements(
        for info: ImageInfo, options: ImageDecodingOptions, isIncremental: Bool
    ) -> DecodingRequirements?
}

extension ImageCoderRegistry {
    /// Returns the requirements for decoding an image with the coder that's tried first, or `nil` if this coder holds
    /// the whole image.
    package func requirements(
        for info: ImageInfo, options: ImageDecodingOptions, isIncremental: Bool = false
    ) -> DecodingRequirements? {
        let first = coders.last { $0.canDecode(info.format, prefix: Data()) }
        return first?.requirementsIfReducing(info, options, isIncremental: isIncremental)
    }
}

extension ImageCoder {
    func requirementsIfReducing(
        _ info: ImageInfo, _ options: ImageDecodingOptions, isIncremental: Bool = false
    ) -> DecodingRequirements? {
        guard options.size != nil, let coder = self as? any ReducingImageCoder else { return nil }
        return coder.requirements(for: info, options: options, isIncremental: isIncremental)
    }
}

extension ImageCoder {
    /// Returns the requirements if the limits force the decoder to add the rows to the result as it decodes them, or
    /// `nil` if it can't do that or the requested size isn't smaller.
    func requirementsOfRows(_ info: ImageInfo, _ options: ImageDecodingOptions) -> DecodingRequirements? {
        // A coder that forwards to another one reduces images only if the other one does.
        var smallest = options
        smallest.size = .fit(width: 1, height: 1)
        guard info.decodesRows, requirementsIfReducing(info, smallest) != nil else { return nil }
        let upright = info.orientation.upright(info.storedSize)
        guard let plan = try? options.size?.plan(for: upright, scale: options.scale, frames: 1),
            !plan.isIdentity(for: upright)
        else { return nil }
        var requirements = DecodingRequirements(size: plan.output, byteCount: 0)
        requirements.coefficientBytes = info.coefficientBytes
        return requirements
    }
}

extension ImageInfo {
    /// Whether a decoder of this package can reduce the image to any smaller size without holding the whole image.
    fileprivate var decodesRows: Bool { smallestDecodedSize == PixelSize(width: 1, height: 1) }

    /// The size of the coefficients of a progressive JPEG file in bytes, rounded up, or 0 for other files.
    package var coefficientBytes: Int {
        guard format == .jpeg, isProgressive else { return 0 }
        // The smallest file has a bit for each block of 64 coefficients with 2 bytes. If it's unknown, assume an image
        // without chroma subsampling.
        return smallestFile > 0 ? Self.product(smallestFile + 1, 8 * 128) : Self.product(storedSize.area ?? .max, 6)
    }

    /// Returns the product of two positive numbers, or the largest number if it's larger.
    private static func product(_ first: Int, _ second: Int) -> Int {
        let (product, overflow) = first.multipliedReportingOverflow(by: second)
        return overflow ? .max : product
    }

    /// The size of the smallest image that a decoder of this package holds to decode the file at some size, or `nil` if
    /// it holds the whole image.
    ///
    /// libjpeg reduces the previews of camera RAW files to an eighth of each side. OpenJPEG reduces to an eighth of each
    /// side if the file has enough resolutions. The other formats are reduced row by row to any size, TIFF files only if
    /// their strips or tiles have up to 1,024 rows.
    var smallestDecodedSize: PixelSize? {
        let smallest = PixelSize(width: 1, height: 1)
        func eighth(_ side: Int) -> Int { side / 8 + (side % 8 == 0 ? 0 : 1) }
        let reduced = PixelSize(width: eighth(storedSize.width), height: eighth(storedSize.height))
        // A RAW file without a preview is decoded as a TIFF file.
        let isTIFF = format == .tiff || format.isRAW && rowsPerUnit != nil
        switch format {
        case _ where isTIFF: return (rowsPerUnit ?? .max) <= 1_024 ? smallest : nil
        case .jpeg, .pbm, .pgm, .ppm, .pam: return smallest
        case .jpeg2000: return reduced
        case _ where format.isRAW && !isProgressive: return reduced
        case .png where !isProgressive: return smallest
        case .webp where frameCount == 1 && frameCountIsExact && !isLosslessWebP: return smallest
        default: return nil
        }
    }
}
