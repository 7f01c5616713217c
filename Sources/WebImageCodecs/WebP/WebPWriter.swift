// SPDX-License-Identifier: MIT

import CWebP
import Foundation
import WebImageCore

/// An encoder for WebP images, based on libwebp.
enum WebPWriter {
    /// The maximum width and height, because the format stores sizes in 14 bits.
    static let maxDimension = 16_383

    /// The state of the encoder's progress callback.
    private final class Watch {
        let context: ImageProcessingContext
        var failure: ImageError?

        init(_ context: ImageProcessingContext) { self.context = context }

        func mayGoOn() -> Bool {
            do throws(ImageError) {
                try context.checkCancellation()
                return true
            } catch {
                failure = error
                return false
            }
        }
    }

    static func encode(_ image: DecodedImage, as encoding: ImageEncoding, context: ImageProcessingContext)
        throws(ImageError) -> Data
    {
        try requireEncodable(image.pixels, as: .webp, maxDimension: maxDimension)
        let pixels = try image.pixels.eightBits(context: context)
        var options = try options(encoding)
        let watch = Watch(context)
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        let encode = { (source: UnsafePointer<UInt8>?, stride: Int) in
            wi_webp_encode(
                source, stride, UInt32(pixels.width), UInt32(pixels.height), pixels.isOpaque ? 1 : 0,
                &options,
                { user, _ in
                    guard let user else { return 1 }
                    return Unmanaged<Watch>.fromOpaque(user).takeUnretainedValue().mayGoOn() ? 1 : 0
                }, Unmanaged.passUnretained(watch).toOpaque(), &bytes, &count)
        }
        let status: wi_webp_status
        if pixels.isOpaque {
            status = pixels.withUnsafeBytes {
                encode($0.bindMemory(to: UInt8.self).baseAddress, pixels.bytesPerRow)
            }
        } else {
            status = encode(AlphaUnpremultiplier.rows(of: pixels, from: 0, count: pixels.height), pixels.width * 4)
        }
        if let failure = watch.failure { throw failure }
        guard status == WI_WEBP_OK, let bytes else {
            throw .processing(.encodingFailed(format: .webp, reason: "libwebp failed (status \(status.rawValue))"))
        }
        defer { wi_webp_free(bytes) }
        return try embed(
            EmbeddedMetadata(checked: image, as: encoding), in: UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Throws ``ImageError/RequestFailure/invalidOption(name:value:)``.
    static func options(_ encoding: ImageEncoding) throws(ImageError) -> wi_webp_options {
        wi_webp_options(
            is_lossless: encoding.isLossless ? 1 : 0, is_exact: encoding.isExact ? 1 : 0,
            quality: Float(encoding.quality ?? 80), effort: Int32(try encoding.checkedEffort() ?? -1),
            preset: preset(encoding.preset), is_fine: encoding.visualScore != nil ? 1 : 0)
    }

    private static func preset(_ preset: ImageEncoding.Preset?) -> wi_webp_preset {
        switch preset {
        case nil: WI_WEBP_DEFAULT
        case .picture: WI_WEBP_PICTURE
        case .photo: WI_WEBP_PHOTO
        case .drawing: WI_WEBP_DRAWING
        case .icon: WI_WEBP_ICON
        case .text: WI_WEBP_TEXT
        }
    }

    static func embed(_ metadata: EmbeddedMetadata, in file: UnsafeBufferPointer<UInt8>) throws(ImageError) -> Data {
        guard !metadata.isEmpty else { return Data(file) }
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        let status = metadata.withBytes { icc, exif, xmp in
            wi_webp_embed(
                file.baseAddress, file.count, icc.baseAddress, icc.count, exif.baseAddress, exif.count,
                xmp.baseAddress, xmp.count, &bytes, &count)
        }
        guard status == WI_WEBP_OK, let bytes else {
            throw .processing(.encodingFailed(format: .webp, reason: "libwebp can't embed the metadata"))
        }
        defer { wi_webp_free(bytes) }
        return Data(bytes: bytes, count: count)
    }
}
