// SPDX-License-Identifier: MIT

import AppleNames
import Foundation
import WebImage

/// The name of a coder option.
public struct SDImageCoderOption: RawRepresentable, Hashable, Sendable {
    /// The name.
    public let rawValue: String

    /// Creates a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Whether only the first frame is decoded, a `Bool`.
    public static let decodeFirstFrameOnly = SDImageCoderOption(rawValue: "decodeFirstFrameOnly")
    /// The scale of the decoded image, a `CGFloat`.
    public static let decodeScaleFactor = SDImageCoderOption(rawValue: "decodeScaleFactor")
    /// The size to decode to, a `CGSize` in pixels.
    public static let decodeThumbnailPixelSize = SDImageCoderOption(rawValue: "decodeThumbnailPixelSize")
    /// The quality of the encoded image, 0 to 1.
    public static let encodeCompressionQuality = SDImageCoderOption(rawValue: "encodeCompressionQuality")
    /// Whether only the first frame is encoded, a `Bool`.
    public static let encodeFirstFrameOnly = SDImageCoderOption(rawValue: "encodeFirstFrameOnly")
    /// The maximum size of the encoded image, in bytes.
    public static let encodeMaxFileSize = SDImageCoderOption(rawValue: "encodeMaxFileSize")
    /// The color behind transparent pixels, a ``UIColor``.
    public static let encodeBackgroundColor = SDImageCoderOption(rawValue: "encodeBackgroundColor")
}

/// The options of a coder.
public typealias SDImageCoderOptions = [SDImageCoderOption: Any]

/// A type that decodes and encodes images. Its methods are called on worker threads.
public protocol SDImageCoder: Sendable {
    /// Returns whether the coder decodes the data.
    func canDecode(from data: Data?) -> Bool
    /// Returns the decoded image.
    func decodedImage(with data: Data?, options: SDImageCoderOptions?) -> UIImage?
    /// Returns whether the coder encodes a format.
    func canEncode(to format: SDImageFormat) -> Bool
    /// Returns the encoded image.
    func encodedData(with image: UIImage?, format: SDImageFormat, options: SDImageCoderOptions?) -> Data?
}

/// A coder of WebImage. All coders of SDWebImage and of its plug-ins are this coder, which supports all formats.
public final class SDImageIOCoder: SDImageCoder {
    /// The coder.
    public static let shared = SDImageIOCoder()

    /// Returns whether WebImage decodes the data.
    public func canDecode(from data: Data?) -> Bool {
        data.flatMap { ImageFormat(sniffing: $0) }.map { ImageCoderRegistry.standard.canDecode($0) } ?? false
    }

    /// Returns the decoded image.
    public func decodedImage(with data: Data?, options: SDImageCoderOptions?) -> UIImage? {
        guard let data else { return nil }
        var decoding = ImageDecodingOptions()
        if options?[.decodeFirstFrameOnly] as? Bool == true { decoding.frames = .first }
        if let scale = options?[.decodeScaleFactor] as? CGFloat { decoding.scale = Double(scale) }
        if let size = options?[.decodeThumbnailPixelSize] as? CGSize {
            decoding.size = .fit(width: size.width, height: size.height)
        }
        return (try? DecodedImage(data: data, options: decoding)).map { UIImage(decoded: $0) }
    }

    /// Returns whether WebImage encodes a format.
    public func canEncode(to format: SDImageFormat) -> Bool {
        format.format.map { ImageCoderRegistry.standard.canEncode($0) } ?? false
    }

    /// Returns the encoded image. An undefined format means the smallest suitable format.
    public func encodedData(with image: UIImage?, format: SDImageFormat, options: SDImageCoderOptions?) -> Data? {
        var encoding = ImageEncoding(format: format.format)
        if let quality = options?[.encodeCompressionQuality] as? Double { encoding.quality = Int(quality * 100) }
        if options?[.encodeFirstFrameOnly] as? Bool == true { encoding.frames = .first }
        encoding.maxByteCount = options?[.encodeMaxFileSize] as? Int
        if let color = options?[.encodeBackgroundColor] as? UIColor { encoding.background = color.pixelColor }
        return try? image?.decoded.encoded(as: encoding)
    }
}

/// The coder of WebImage.
public typealias SDImageGIFCoder = SDImageIOCoder
/// The coder of WebImage.
public typealias SDImageAPNGCoder = SDImageIOCoder
/// The coder of WebImage.
public typealias SDImageHEICCoder = SDImageIOCoder
/// The coder of WebImage.
public typealias SDImageAWebPCoder = SDImageIOCoder
/// The coder of WebImage, instead of the WebP plug-in.
public typealias SDImageWebPCoder = SDImageIOCoder
/// The coder of WebImage, instead of the AVIF plug-in. It requires the trait `AVIF`.
public typealias SDImageAVIFCoder = SDImageIOCoder
/// The coder of WebImage, instead of the SVG plug-in. It requires the trait `SVG`.
public typealias SDImageSVGCoder = SDImageIOCoder
/// The coder of WebImage, instead of the JPEG XL plug-in. It requires the trait `JXL`.
public typealias SDImageJPEGXLCoder = SDImageIOCoder

/// The coders of `ImageManager.shared`.
public final class SDImageCodersManager: Sendable {
    /// The coders of `ImageManager.shared`.
    public static let shared = SDImageCodersManager()

    /// Adds a coder, which is tried before the earlier ones. The coders of WebImage are always available.
    public func addCoder(_ coder: any SDImageCoder) {
        guard !(coder is SDImageIOCoder) else { return }
        ImageManager.shared.update { $0.coders.register(MappedCoder(coder)) }
    }

    /// Removes a coder, which must not be a coder of WebImage.
    public func removeCoder(_ coder: any SDImageCoder) {
        ImageManager.shared.update { $0.coders.unregister(MappedCoder(coder).identifier) }
    }
}

/// A coder of a program for the interface of SDWebImage, with the interface of WebImage.
struct MappedCoder: ImageCoder {
    private let coder: any SDImageCoder
    let identifier: String

    init(_ coder: any SDImageCoder) {
        self.coder = coder
        identifier = "SDImageCoder.\(type(of: coder))"
    }

    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { coder.canDecode(from: prefix) }

    func decode(
        _ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: WebImage.ImageProcessingContext
    ) throws(ImageError) -> DecodedImage {
        guard let image = coder.decodedImage(with: data, options: [.decodeScaleFactor: CGFloat(options.scale)]) else {
            throw .decoding(.init(.corrupted("\(identifier) returned no image")))
        }
        guard let size = options.size else { return image.decoded }
        return try StandardTransformer.resize(size).apply(to: image.decoded, context: context)
    }

    func canEncode(_ format: ImageFormat) -> Bool { coder.canEncode(to: SDImageFormat(format)) }

    func encode(
        _ image: DecodedImage, as encoding: ImageEncoding, context: WebImage.ImageProcessingContext
    ) throws(ImageError) -> Data {
        let format = encoding.format ?? .png
        let data = coder.encodedData(with: UIImage(decoded: image), format: SDImageFormat(format), options: nil)
        guard let data else {
            throw .processing(.encodingFailed(format: format, reason: "\(identifier) returned no data"))
        }
        return data
    }
}

extension NSData {
    /// Returns the format of image data.
    public static func sd_imageFormat(forImageData data: Data?) -> SDImageFormat {
        SDImageFormat(data.flatMap { ImageFormat(sniffing: $0) })
    }
}
