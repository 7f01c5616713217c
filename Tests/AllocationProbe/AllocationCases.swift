// SPDX-License-Identifier: MIT

import Foundation
import WebImageCodecs
import WebImageCore

/// The operations whose allocations fail.
enum AllocationCases {
    /// Returns an operation on files, or `nil` if the name is unknown.
    static func body(_ name: String, _ files: [Data]) -> (() throws -> Void)? {
        let context = ImageProcessingContext(limits: .desktop)
        let registry = ImageCoderRegistry.standard
        switch name {
        case "decode":
            return {
                for file in files { _ = try registry.decode(file, options: ImageDecodingOptions(), context: context) }
            }
        case "thumbnail":
            var options = ImageDecodingOptions()
            options.size = .fit(width: 20, height: 20)
            return { for file in files { _ = try registry.decode(file, options: options, context: context) } }
        case "animation":
            return { for file in files { try frames(of: file, registry, context) } }
        case "preview":
            return { for file in files { try previews(of: file, registry, context) } }
        case "metadata":
            return { for file in files { _ = EmbeddedMetadata(reading: file) } }
        case _ where name.hasPrefix("encode-"):
            guard let format = formats[String(name.dropFirst(7))] else { return nil }
            let image = try? registry.decode(files.first ?? Data(), options: ImageDecodingOptions(), context: context)
            guard let image else { return nil }
            return { _ = try registry.encode(image, as: ImageEncoding(format: format), context: context) }
        default: return nil
        }
    }

    private static let formats: [String: ImageFormat] = [
        "jpeg": .jpeg, "png": .png, "gif": .gif, "webp": .webp, "bmp": .bmp, "ico": .ico, "qoi": .qoi, "pam": .pam,
        "tiff": .tiff,
        "avif": .avif, "heif": .heif, "jxl": .jxl,
    ]

    private static func frames(of file: Data, _ registry: ImageCoderRegistry, _ context: ImageProcessingContext) throws
    {
        let image = try registry.decode(file, options: ImageDecodingOptions(), context: context)
        guard let animation = image.animation else { return }
        for place in [1, 0] where place < animation.frameCount { _ = try animation.frame(at: place) }
    }

    private static func previews(of file: Data, _ registry: ImageCoderRegistry, _ context: ImageProcessingContext)
        throws
    {
        let start = try registry.progressiveStart(
            file, encodedBytes: file.count, options: ImageDecodingOptions(), growsAnimations: false, context: context)
        guard case .decoder(let decoder, _) = start else { return }
        let half = file.count / 2
        try decoder.append(file[..<half], isLast: false, context: context)
        _ = try decoder.makePreview(context: context)
        try decoder.append(file[half...], isLast: true, context: context)
        _ = try decoder.makePreview(context: context)
    }
}
