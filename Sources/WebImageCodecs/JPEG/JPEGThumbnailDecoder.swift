// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore

/// A progressive decoder that displays the EXIF thumbnail of a JPEG file until another decoder has more detail.
///
/// The thumbnail is the first preview. The rows of a file with one scan are drawn over it, and the first sufficiently
/// detailed scan of another file replaces it. A thumbnail that is invalid or that doesn't show the whole image is
/// ignored.
final class JPEGThumbnailDecoder: ProgressiveImageDecoder {
    private enum Stage {
        /// The header isn't complete. The value is the received data.
        case header(Data)
        /// The thumbnail was found. `header` is the beginning of the file if it contains a color profile.
        case found(thumbnail: Data, header: Data?)
        case ready(ThumbnailBackdrop, isDisplayed: Bool)
        case finished
    }

    private let base: any ProgressiveImageDecoder
    private let probe: ImageInfo
    private let options: ImageDecodingOptions
    private let layout: DecodeLayout
    private let stage = Lock(Stage.header(Data()))

    /// The maximum size of the header that is retained to read the color profile, in bytes. EXIF blocks have at most
    /// 64 KiB, and the profiles of cameras are small.
    private static let maxHeader = 256 << 10

    /// `base` is the decoder of the image itself.
    init(
        _ base: any ProgressiveImageDecoder, probe: ImageInfo, options: ImageDecodingOptions, layout: DecodeLayout
    ) {
        self.base = base
        self.probe = probe
        self.options = options
        self.layout = layout
    }

    func append(_ bytes: Data, isLast: Bool, context: ImageProcessingContext) throws(ImageError) {
        stage.withLock { stage in
            if isLast { stage = .finished }
            guard case .header(let received) = stage else { return }
            stage = search(received + bytes)
        }
        try base.append(bytes, isLast: isLast, context: context)
    }

    func makePreview(context: ImageProcessingContext) throws(ImageError) -> ImagePreview? {
        let preview = try base.makePreview(context: context)
        return try stage.withLock { (stage) throws(ImageError) -> ImagePreview? in
            guard preview?.isComplete != true, let backdrop = try backdrop(&stage, context) else { return preview }
            if let preview {
                guard let combined = try backdrop.combined(with: preview, context: context) else {
                    return try thumbnail(backdrop, &stage, context)
                }
                stage = preview.coversImage ? .finished : .ready(backdrop, isDisplayed: true)
                return combined
            }
            return try thumbnail(backdrop, &stage, context)
        }
    }

    private func search(_ header: Data) -> Stage {
        switch JPEGThumbnail.find(in: header) {
        case .none: .finished
        case .needsMore: header.count < Self.maxHeader ? .header(header) : .finished
        case .found(let thumbnail): .found(thumbnail: thumbnail, header: probe.hasICCProfile ? header : nil)
        }
    }

    /// Returns the thumbnail as a preview, or `nil` if it was returned before.
    private func thumbnail(
        _ backdrop: ThumbnailBackdrop, _ stage: inout Stage, _ context: ImageProcessingContext
    ) throws(ImageError) -> ImagePreview? {
        guard case .ready(_, isDisplayed: false) = stage else { return nil }
        let metadata = ImageMetadata(
            storedSize: layout.rawSize, orientation: layout.orientation, bitDepth: probe.bitDepth, hasAlpha: false,
            isPartial: true)
        let image = DecodedImage(
            pixels: try backdrop.enlarged(context: context), scale: options.scale, format: .jpeg, metadata: metadata)
        stage = .ready(backdrop, isDisplayed: true)
        return ImagePreview(
            image: image, completedRows: layout.rawSize.height, passCount: nil, fractionCompleted: 0)
    }

    /// Returns the decoded thumbnail, or `nil` if there's none. An invalid thumbnail isn't an error of the file.
    private func backdrop(
        _ stage: inout Stage, _ context: ImageProcessingContext
    ) throws(ImageError) -> ThumbnailBackdrop? {
        switch stage {
        case .header, .finished: return nil
        case .ready(let backdrop, _): return backdrop
        case .found(let thumbnail, let header):
            stage = .finished
            do throws(ImageError) {
                let pixels = try decode(thumbnail, header: header, context)
                guard let backdrop = ThumbnailBackdrop(pixels, layout: layout) else { return nil }
                stage = .ready(backdrop, isDisplayed: false)
                return backdrop
            } catch {
                try context.checkCancellation()
                return nil
            }
        }
    }

    /// Decodes the thumbnail in the colors of the result. A thumbnail without a color profile has that of the image.
    private func decode(
        _ thumbnail: Data, header: Data?, _ context: ImageProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        let info = try ImageInfo(data: thumbnail)
        try context.limits.check(info, encodedBytes: thumbnail.count)
        let profile = header.flatMap { header in try? Self.profile(of: header, context) }
        return try thumbnail.withBytes { (bytes) throws(ImageError) in
            let reader = try JPEGReader(bytes, context: context)
            guard info.format == .jpeg, reader.size == info.storedSize, reader.colorModel != .cmyk else {
                throw .decoding(.corrupted(format: .jpeg, reason: "the thumbnail is invalid"))
            }
            let color = options.conversion(.from(profile: reader.iccProfile() ?? profile, model: reader.colorModel))
            return try reader.decode(denominator: 1, allowsPartial: false, color: color).pixels
        }
    }

    /// Returns the color profile in the header of the image, or `nil` if there's none or it's for another model than
    /// RGB (ICC.1, 7.2.6).
    private static func profile(of header: Data, _ context: ImageProcessingContext) throws(ImageError) -> [UInt8]? {
        try header.withBytes { (bytes) throws(ImageError) in
            let profile = try JPEGReader(bytes, context: context).iccProfile()
            return profile?.dropFirst(16).prefix(4).elementsEqual("RGB ".utf8) == true ? profile : nil
        }
    }
}
