// SPDX-License-Identifier: MIT

#if JXL
    import CJXL
    import Foundation
    import WebImageCore

    /// A JPEG XL file that libjxl has opened.
    struct JXLSource: LibraryFrameSource, ~Copyable {
        private let encoded: PinnedData
        private let handle: OpaquePointer
        private let info: wi_jxl_info
        private let memory: Int
        /// Whether a truncated frame is decoded as far as possible.
        var allowsPartial = false
        /// Whether the last frame was truncated.
        private(set) var isPartial = false
        var color: ColorConversion?
        var preservesBitDepth = false

        /// Throws an ``ImageError/DecodingFailure`` or an ``ImageError/LimitFailure``.
        init(_ data: Data, colorSpace: ImageColorSpace, limits: ImageLimits) throws(ImageError) {
            let encoded = PinnedData(data)
            let memory = Self.memory(limits)
            try CodecLibraries.load(.jxl, with: wi_jxl_load)
            var handle: OpaquePointer?
            var info = wi_jxl_info()
            let space =
                switch colorSpace {
                case .sRGB: WI_JXL_SRGB
                case .displayP3: WI_JXL_DISPLAY_P3
                case .source: WI_JXL_ORIGINAL
                }
            let status = wi_jxl_open(encoded.bytes.baseAddress, encoded.count, memory, space, &info, &handle)
            guard status == WI_JXL_OK, let handle else {
                wi_jxl_close(handle)
                throw Self.failure(status, received: encoded.count, memory: memory)
            }
            do throws(ImageError) {
                try Self.checkLayers(of: handle, info, received: encoded.count, memory: memory, limits)
            } catch {
                wi_jxl_close(handle)
                throw error
            }
            self.encoded = encoded
            self.handle = handle
            self.info = info
            self.memory = memory
        }

        deinit { wi_jxl_close(handle) }

        private static func checkLayers(
            of handle: OpaquePointer, _ info: wi_jxl_info, received: Int, memory: Int, _ limits: ImageLimits
        ) throws(ImageError) {
            let bounds = layerLimits(isAnimated: info.is_animated != 0, limits)
            var layer: [UInt32] = [0, 0]
            let status = wi_jxl_check_layers(handle, bounds, &layer)
            guard status != WI_JXL_OK else { return }
            throw layerFailure(status, layer, bounds) ?? failure(status, received: received, memory: memory)
        }

        /// Returns the limits of the layers. libjxl draws all layers of a still image in one call, and animations have at
        /// least one layer per frame. The limits of an image also apply to each layer, because libjxl allocates memory for
        /// whole layers.
        static func layerLimits(isAnimated: Bool, _ limits: ImageLimits) -> wi_jxl_layer_limits {
            wi_jxl_layer_limits(
                count: isAnimated ? 40_000 : 256, side: UInt32(clamping: limits.maxDimension),
                area: UInt64(clamping: limits.maxPixels))
        }

        /// Returns the failure if there are too many layers, or if a layer is too large. Otherwise, the result is `nil`.
        static func layerFailure(
            _ status: wi_jxl_status, _ layer: [UInt32], _ limits: wi_jxl_layer_limits
        ) -> ImageError? {
            switch status {
            case WI_JXL_LAYERS:
                let limit = Int(limits.count)
                return .limitExceeded(
                    ImageError.LimitFailure(
                        .metadataSize, limit: limit, actual: limit + 1, detail: "layers of a JPEG XL file"))
            case WI_JXL_LAYER_SIZE:
                let (width, height) = (Int(layer[0]), Int(layer[1]))
                let detail = "a layer of a JPEG XL file"
                guard max(width, height) <= limits.side else {
                    return .limitExceeded(
                        ImageError.LimitFailure(
                            .dimension, limit: Int(limits.side), actual: max(width, height), detail: detail))
                }
                return .limitExceeded(
                    ImageError.LimitFailure(
                        .pixelCount, limit: Int(clamping: limits.area), actual: width * height, detail: detail))
            default: return nil
            }
        }

        /// Returns the maximum memory of libjxl in bytes. The library uses 32-bit floats and several planes in
        /// addition to the color planes.
        static func memory(_ limits: ImageLimits) -> Int {
            let budget = limits.maxDecodedBytes.multipliedReportingOverflow(by: 8)
            return budget.overflow ? Int.max / 2 : max(budget.partialValue, 64 << 20)
        }

        var storedSize: PixelSize { PixelSize(width: Int(info.width), height: Int(info.height)) }
        var depth: Int { Int(info.depth) }
        var hasAlpha: Bool { info.has_alpha != 0 }
        var isAnimated: Bool { info.is_animated != 0 }
        var orientation: ImageOrientation { ImageOrientation(rawValue: Int(info.orientation)) ?? .up }
        /// The number of times to play the animation (ISO/IEC 18181-1, `num_loops`), where 0 repeats indefinitely.
        var loopCount: Int { Int(info.loops) }
        /// The color code points of the pixels, or `nil` if only a profile describes the colors.
        var codePoints: ColorCodePoints? { info.pixels.codePoints }

        var conversion: ColorConversion? { info.conversion }

        func describedSpace(_ color: ImageColorSpace) -> wi_jxl_color_space { info.describedSpace(color) }

        /// Returns the durations of all frames, in milliseconds. Throws an ``ImageError/LimitFailure`` of kind `frames`
        /// if there are more frames than `limit` or than 16 times the desktop limit, or an
        /// ``ImageError/DecodingFailure``.
        mutating func durations(limit: Int) throws(ImageError) -> [Int] {
            var count: UInt32 = 0
            let room = min(max(limit, 1), ImageLimits.desktop.maxFrames * 16)
            var ticks = [UInt32](repeating: 0, count: room)
            let status = wi_jxl_index(handle, &ticks, UInt32(room), &count)
            guard status == WI_JXL_OK, count > 0 else {
                throw Self.failure(
                    status == WI_JXL_OK ? WI_JXL_CORRUPT : status, received: encoded.count, memory: memory)
            }
            guard count <= room else {
                throw .limitExceeded(ImageError.LimitFailure(.frameCount, limit: room, actual: Int(count)))
            }
            return ticks.prefix(Int(count)).map { ticks in
                let seconds = info.ticks_per_second > 0 ? Double(ticks) / info.ticks_per_second : 0
                return AnimationTimeline.normalizedDelay(milliseconds: Int(min((seconds * 1_000).rounded(), 1e9)))
            }
        }

        mutating func decode(frame: Int, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
            try context.checkCancellation()
            let reading = PixelImporter(
                storedSize, depth: depth, preservesBitDepth: preservesBitDepth, color: color, isZeroed: allowsPartial)
            let pixels = try reading.pixels(context: context) { (canvas) throws(ImageError) in
                try read(frame, into: canvas, context)
                return .init(
                    hasAlpha: hasAlpha || isPartial, isPremultiplied: hasAlpha && info.is_premultiplied != 0)
            }
            try context.checkCancellation()
            return pixels
        }

        /// Starts threads for all frames, before the first one is decoded. The threads exist as long as the source, so
        /// they're only for a source that the operation closes.
        func useThreads(_ count: Int) { wi_jxl_use_threads(handle, count) }

        private mutating func read(
            _ frame: Int, into canvas: borrowing PixelCanvas, _ context: ImageProcessingContext
        ) throws(ImageError) {
            var isDrawn: Int32 = 0
            var status = wi_jxl_frame_begin(handle, UInt32(clamping: frame))
            if status == WI_JXL_OK { status = WI_JXL_MORE }
            while status == WI_JXL_MORE {
                try context.checkCancellation()
                status = context.countingThreads {
                    wi_jxl_frame(
                        handle, allowsPartial ? 1 : 0, Int32(canvas.format.layout.bitsPerSample), canvas.baseAddress,
                        canvas.bytesPerRow, PixelFormat.rowAlignment, &isDrawn)
                }
            }
            isPartial = status == WI_JXL_TRUNCATED && isDrawn != 0
            guard status == WI_JXL_OK || isPartial else {
                // Callers check the index against the index of the file, so the data contradicts itself.
                if status == WI_JXL_END {
                    throw .decoding(.corrupted(format: .jxl, reason: "the data ends before frame \(frame)"))
                }
                throw Self.failure(status, received: encoded.count, memory: memory)
            }
        }

        static func failure(_ status: wi_jxl_status, received: Int, memory: Int) -> ImageError {
            switch status {
            case WI_JXL_TRUNCATED: .decoding(.truncated(format: .jxl, receivedBytes: received, expectedBytes: nil))
            case WI_JXL_CHANNELS:
                .limitExceeded(
                    ImageError.LimitFailure(
                        .metadataSize, limit: Int(WI_JXL_MAX_CHANNELS), actual: Int(WI_JXL_MAX_CHANNELS) + 1,
                        detail: "extra channels of a JPEG XL file"))
            case WI_JXL_MEMORY: .decoding(.outOfMemory(byteCount: memory))
            case WI_JXL_INCONSISTENT:
                .decoding(
                    .contradictsHeader(format: .jxl, reason: "the size of a frame differs from the size in the header"))
            default: .decoding(.corrupted(format: .jxl, reason: "libjxl can't decode it"))
            }
        }
    }

    extension wi_jxl_info {
        /// The conversion of the decoded pixels to sRGB.
        var conversion: ColorConversion? {
            if let codePoints = pixels.codePoints { return .from(codePoints) }
            return .from(profile: pixels.profile, model: is_gray != 0 ? .gray : .rgb)
        }

        /// Returns the color space for the metadata of pixels in the color space `color`. The metadata of converted pixels
        /// describe the file.
        func describedSpace(_ color: ImageColorSpace) -> wi_jxl_color_space { color == .source ? pixels : file }
    }

    extension wi_jxl_color_space {
        /// The code points, or those of the profile if it has the tag `cicp`.
        var exactCodePoints: ColorCodePoints? { codePoints ?? profile.flatMap { ColorCodePoints(iccProfile: $0) } }

        var profile: [UInt8]? { icc.map { [UInt8](UnsafeBufferPointer(start: $0, count: icc_count)) } }

        /// The code points, or `nil` if only a profile describes the color space.
        var codePoints: ColorCodePoints? {
            transfer == 0 ? nil : ColorCodePoints(primaries: Int(primaries), transfer: Int(transfer))
        }
    }
#endif
