// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import WebImageCore

@testable import WebImageCodecs

/// Fuzzing of whole files, previews, and animations of one format.
enum Decoding {
    /// Limits that keep each run short. Everything below them must be decoded or rejected without a failure.
    static let limits: ImageLimits = {
        var limits = ImageLimits.server
        limits.maxPixels = 1 << 20
        limits.maxSourcePixels = 4 << 20
        limits.maxAnimationPixels = 4 << 20
        limits.maxFrames = 64
        limits.maxDecodedBytes = 64 << 20
        limits.maxDecodingTime = .seconds(2)
        return limits
    }()

    static var context: ImageProcessingContext { ImageProcessingContext(limits: limits) }

    /// Returns the options that the end of an input chooses.
    static func options(_ choices: inout FuzzChoices) -> ImageDecodingOptions {
        var options = ImageDecodingOptions()
        if choices.isTrue() {
            let (width, height) = (Double(choices.number(in: 1...300)), Double(choices.number(in: 1...300)))
            options.size =
                choices.isTrue() ? .fit(width: width, height: height) : .fill(width: width, height: height)
        }
        options.preservesBitDepth = choices.isTrue()
        options.color = choices.isTrue(oneIn: 4) ? .source : choices.isTrue(oneIn: 4) ? .displayP3 : .sRGB
        options.allowsPartialData = choices.isTrue()
        options.frames = choices.element(of: [.all, .all, .first, .index(1)])
        return options
    }

    /// Decodes the input as a whole, and some frames of an animation in an arbitrary order.
    static func whole(_ bytes: UnsafeRawBufferPointer) {
        var choices = FuzzChoices(bytes)
        var options = options(&choices)
        let places = (0..<4).map { _ in choices.number(in: 0...63) }
        options.dynamicRange = choices.isTrue(oneIn: 4) ? .high : .standard
        let headroom = Double(choices.element(of: [1, 2, 4, 16]))
        let data = choices.rest
        guard let image = try? ImageCoderRegistry.standard.decode(data, options: options, context: context)
        else { return }
        check(image.pixels)
        if options.dynamicRange == .high { render(image, headroom) }
        if options.size == nil, options.frames != .index(1), let info = try? ImageInfo(data: data) {
            require(image.size == info.size, "The probe reports \(info.size), but the image has \(image.size).")
        }
        guard let animation = image.animation else { return }
        require(animation.frameCount == animation.frameDurations.count, "A frame has no duration.")
        require(animation.frameCount <= limits.maxFrames, "An animation has too many frames.")
        for place in places where place < animation.frameCount {
            guard let frame = try? animation.frame(at: place) else { continue }
            check(frame)
            require(frame.size == image.size, "Frame \(place) has another size than the image.")
        }
    }

    /// Renders an image, and checks the samples of the result and the limits for the gain map.
    private static func render(_ image: DecodedImage, _ headroom: Double) {
        if let map = image.gainMap {
            check(map.pixels)
            require(map.metadata.isValid, "Invalid metadata of a gain map are accepted.")
            let bytes = [map.pixels, image.pixels].reduce(0) { $0 + $1.bytesPerRow * $1.height }
            require(bytes <= limits.maxDecodedBytes, "An image and its gain map have \(bytes) bytes.")
        }
        guard let light = try? image.rendered(headroom: headroom, context: context) else { return }
        require(light.size == image.size, "The rendering has another size than the image.")
        light.withUnsafeBytes { bytes in
            for y in 0..<light.size.height {
                for x in 0..<light.size.width * 4 {
                    let half = bytes.load(fromByteOffset: y * light.bytesPerRow + x * 2, as: UInt16.self)
                    // Finite numbers without a sign, and negative zero.
                    require(half < 0x7C00 || half == 0x8000, "A sample is negative, infinite, or undefined.")
                }
            }
        }
    }

    /// Appends the input to a progressive decoder in pieces, requests previews, and compares the last one with the
    /// image.
    static func previews(_ bytes: UnsafeRawBufferPointer) {
        var choices = FuzzChoices(bytes)
        var options = options(&choices)
        options.preservesBitDepth = false
        let grows = choices.isTrue()
        let steps = (0..<6).map { _ in (size: choices.number(in: 1...4_000), makesPreview: choices.isTrue()) }
        let data = choices.rest
        guard let (decoder, start) = decoder(for: data, first: steps[0].size, options, grows) else { return }
        var (offset, step, last) = (0, 0, ImagePreview?.none)
        while offset < data.count {
            // Previews of every few bytes would need most of the time.
            let size = max(steps[step % steps.count].size, data.count / 24)
            let end = min(data.count, offset == 0 ? start : offset + size)
            do {
                try decoder.append(data[offset..<end], isLast: end == data.count, context: context)
                if end == data.count || steps[step % steps.count].makesPreview,
                    let preview = try decoder.makePreview(context: context)
                {
                    check(preview, after: last)
                    last = preview
                }
            } catch {
                return
            }
            offset = end
            step += 1
        }
        options.frames = .first
        options.allowsPartialData = false
        guard let last, last.isComplete, last.image.animation == nil,
            let image = try? ImageCoderRegistry.standard.decode(data, options: options, context: context)
        else { return }
        require(image.size == last.image.size, "The last preview has another size than the image.")
        // Previews use 8 bits of each sample and multiply by alpha in another order than they convert colors, so these
        // colors can differ. libjpeg and libwebp's lossy decoder decode corrupt data in another way if they receive the
        // data in pieces.
        let metadata = image.metadata
        guard metadata.bitDepth == 8, image.isOpaque || metadata.iccProfile == nil && metadata.codePoints == nil,
            image.format != .jpeg, image.format != .webp || data.dropFirst(12).starts(with: Data("VP8L".utf8))
        else { return }
        let difference = difference(image.pixels, last.image.pixels)
        require(difference <= 2, "The last preview differs by up to \(difference) from the image.")
    }

    /// Returns the largest difference of two samples.
    private static func difference(_ left: PixelBuffer, _ right: PixelBuffer) -> Int {
        guard left.format == right.format, left.size == right.size else { return .max }
        let count = left.width * left.format.bytesPerPixel
        return left.withUnsafeBytes { one in
            right.withUnsafeBytes { other in
                var largest = 0
                for y in 0..<left.height {
                    for x in 0..<count {
                        let (first, second) = (one[y * left.bytesPerRow + x], other[y * right.bytesPerRow + x])
                        largest = max(largest, abs(Int(first) - Int(second)))
                    }
                }
                return largest
            }
        }
    }

    private static func decoder(
        for data: Data, first: Int, _ options: ImageDecodingOptions, _ grows: Bool
    ) -> (any ProgressiveImageDecoder, start: Int)? {
        var start = first
        while start <= data.count {
            let result = try? ImageCoderRegistry.standard.progressiveStart(
                data.prefix(start), encodedBytes: data.count, options: options, growsAnimations: grows,
                context: context)
            switch result {
            case .decoder(let decoder, _): return (decoder, start)
            case .needsMore(let count):
                require(count > start, "The decoder requests data that it already has.")
                start = count
            case .unavailable, nil: return nil
            }
        }
        return nil
    }

    private static func check(_ preview: ImagePreview, after last: ImagePreview?) {
        check(preview.image.pixels)
        require(preview.image.size == last?.image.size ?? preview.image.size, "A preview has another size.")
        require((0...1).contains(preview.fractionCompleted), "A preview exceeds the image.")
        require(preview.fractionCompleted >= last?.fractionCompleted ?? 0, "The progress decreases.")
        require(preview.completedRows >= 0 && preview.completedPasses <= preview.passCount ?? .max)
    }

    /// Reads every pixel, so that the address sanitizer finds a buffer that's smaller than its size.
    static func check(_ pixels: PixelBuffer) {
        require(pixels.width > 0 && pixels.height > 0, "An image is empty.")
        require(pixels.width * pixels.height <= limits.maxPixels, "An image exceeds the limit.")
        pixels.withUnsafeBytes { bytes in
            require(bytes.count >= pixels.bytesPerRow * (pixels.height - 1), "The rows don't fit.")
            var sum: UInt8 = 0
            for byte in bytes { sum &+= byte }
            blackHole = sum
        }
    }

    /// The target of reads whose results aren't used.
    ///
    /// Safe: libFuzzer has only one thread, and nothing reads the value.
    nonisolated(unsafe) private static var blackHole: UInt8 = 0
}
