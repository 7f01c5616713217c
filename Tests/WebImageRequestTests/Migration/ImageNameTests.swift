// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage
@testable import WebImageUI

/// Behaviors of images, pixels, and players that the names of SDWebImage and YYImage in the articles stand for.
@Suite("Migration names: images", .timeLimit(.minutes(5)))
struct ImageNameTests {
    @Test("An animated GIF reports its format, its frames, and its loop count, and a still image reports one frame")
    func metadata() throws {
        let frames = try (1...3).map { (pixels: try TestImages.pixels($0), duration: Duration.milliseconds(50)) }
        let animation = try DecodedImage(animation: ImageAnimation(frames: frames, loopCount: 4))
        let gif = try DecodedImage(data: animation.encoded(as: .gif))
        #expect(gif.format == .gif && gif.isAnimated && gif.frameCount == 3)
        #expect(gif.animation?.loopCount == 4)
        #expect(!gif.metadata.isPartial)
        let png = try DecodedImage(data: TestImages.png(1))
        #expect(png.format == .png && !png.isAnimated && png.frameCount == 1)
    }

    @Test("The header of a GIF indicates whether it's animated")
    func animatedGIF() throws {
        let animated = try ImageInfo(data: Migration.gif())
        #expect(animated.format == .gif && animated.frameCount == 3)
        let still = try ImageInfo(data: DecodedImage(pixels: TestImages.pixels(1)).encoded(as: .gif))
        #expect(still.format == .gif && still.frameCount == 1)
    }

    @Test("An image created from pixels has its scale, and its pixels stay the same")
    func scaledImage() throws {
        let pixels = try TestImages.pixels(1)
        let image = DecodedImage(pixels: pixels, scale: 2)
        #expect(image.scale == 2 && image.pixels === pixels && image.size == pixels.size)
        let resized = try StandardTransformer.resize(width: 10, unit: .points).apply(to: image)
        #expect(resized.scale == 2)
    }

    @Test("Only images with translucent pixels aren't opaque")
    func alpha() throws {
        let opaque = try DecodedImage(data: TestImages.png(1))
        #expect(opaque.isOpaque && opaque.pixels.isOpaque)
        let rounded = try StandardTransformer.circle.apply(to: opaque)
        let decoded = try DecodedImage(data: rounded.encoded(as: .png))
        #expect(!decoded.isOpaque && !decoded.pixels.isOpaque && decoded.metadata.hasAlpha)
    }

    @Test("A decoded image contains pixels that any thread can read without decoding again")
    func decoded() async throws {
        let table = try Migration()
        let image = try await table.manager.image(for: table.request())
        let decodes = table.manager.statistics.decodes
        let colors = await withTaskGroup(of: PixelColor?.self) { group in
            for x in 0..<8 { group.addTask { image.pixels.color(x: x, y: 0) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(colors.allSatisfy { $0 != nil })
        #expect(table.manager.statistics.decodes == decodes && decodes == 1)
    }

    @Test("A decoded image is reduced to a number of bytes, and a smaller one stays unchanged")
    func scaledDown() throws {
        let image = DecodedImage(pixels: try TestImages.pixels(1))
        let limit = 64 * 48
        let reduced = try StandardTransformer.resize(.fitting(byteCount: limit)).apply(to: image)
        #expect(reduced.size.width * reduced.size.height * 4 <= limit && reduced.size.width >= 30)
        let same = try StandardTransformer.resize(.fitting(byteCount: 1 << 20)).apply(to: image)
        #expect(same.size == image.size)
    }

    @Test("Orientations have the numbers of EXIF, and decoders apply them", arguments: 1...8)
    func orientation(_ number: Int) throws {
        let orientation = try #require(ImageOrientation(rawValue: number))
        let file = Fixtures.directory.appending(path: "codecs/orientation-\(number).jpg")
        let info = try ImageInfo(data: Data(contentsOf: file))
        #expect(info.orientation == orientation)
        #expect(orientation.swapsDimensions == (number >= 5))
        let image = try DecodedImage(contentsOf: file)
        #expect(image.size == info.size)
        #expect((image.size == info.storedSize) == !orientation.swapsDimensions)
        #expect(ImageOrientation(rawValue: number + 8) == nil)
    }

    @Test("The metadata of a reduced image contains the size in the file")
    func thumbnail() async throws {
        let table = try Migration()
        var request = try table.request()
        let whole = try await table.manager.image(for: request)
        #expect(whole.metadata.storedSize == whole.size)
        request.size = .fit(width: 20)
        let small = try await table.manager.image(for: request)
        #expect(small.size.width == 20 && small.metadata.storedSize == PixelSize(width: 64, height: 48))
    }

    @Test("A transformed image keeps the format, the scale, and the loop count")
    func transformedMetadata() throws {
        let frames = try (1...2).map { (pixels: try TestImages.pixels($0), duration: Duration.milliseconds(50)) }
        let animation = try DecodedImage(animation: ImageAnimation(frames: frames, loopCount: 3))
        var options = ImageDecodingOptions()
        options.scale = 2
        let image = try DecodedImage(data: animation.encoded(as: .gif), options: options)
        let padded = try StandardTransformer.pad(2).apply(to: image)
        #expect(padded.format == .gif && padded.scale == 2)
        #expect(padded.animation?.loopCount == 3 && padded.frameCount == 2)
    }

    @Test("Vector formats are distinguished from bitmap formats")
    func vector() async throws {
        #expect(ImageFormat(sniffing: Migration.svg) == .svg)
        #expect(ImageFormat.svg.isVector && ImageFormat.pdf.isVector && !ImageFormat.png.isVector)
        // A helper with a sanitizer can’t start within its limits.
        #if !(ADDRESS_SANITIZER || THREAD_SANITIZER)
            let table = try Migration()
            guard table.manager.configuration.coders.canDecode(.svg) else { return }
            #expect(try await table.manager.image(for: table.request(1, Migration.svg)).format?.isVector == true)
        #endif
    }

    @Test("The cost of an image is the size of its pixels")
    func cost() throws {
        let image = DecodedImage(pixels: try TestImages.pixels(1, width: 64, height: 48))
        #expect(image.cost >= 64 * 48 * 4)
        let cache = MemoryCache()
        cache.store(image, for: CacheKey(["cost"]))
        #expect(cache.statistics.cost == image.cost)
    }

    @Test("A frame of an animation has the size of the image, and its rows have four bytes per pixel")
    func frameBytes() throws {
        let gif = try DecodedImage(data: Migration.gif())
        let frame = try #require(gif.animation).frame(at: 1)
        #expect(frame.size == gif.size && frame.height == 48)
        #expect(frame.bytesPerRow >= 64 * 4)
    }

    @Test("Every format has a media type and a file name extension that identifies it")
    func fileTypes() throws {
        let formats: [ImageFormat] = [
            .jpeg, .png, .gif, .webp, .tiff, .bmp, .ico, .heif, .avif, .jxl, .svg, .pdf, .qoi,
        ]
        for format in formats {
            #expect(ImageFormat(fileExtension: format.fileExtension) == format)
            let type = try #require(format.mimeType)
            #expect(type.contains("/") && ImageFormat(mimeType: type) == format)
        }
        #expect(ImageFormat(fileExtension: "JPEG") == .jpeg)
        for (type, format) in [
            ("image/jpg", ImageFormat.jpeg), ("IMAGE/JPEG", .jpeg), (" image/svg+xml ; charset=utf-8", .svg),
            ("image/x-icon", .ico), ("image/heic", .heif), ("image/x-ms-bmp", .bmp),
        ] {
            #expect(ImageFormat(mimeType: type) == format, "\(type)")
        }
        for type in ["", ";", "image", "image/", "image/unknown", "text/html", "video/mp4", "application/json"] {
            #expect(ImageFormat(mimeType: type) == nil, "\(type)")
        }
        #expect(Set(formats.compactMap(\.mimeType)).count == formats.count)
    }

    @Test(
        "A canvas creates pixels of both depths, with and without transparency",
        arguments: [PixelFormat.rgba8, .rgba16])
    func canvas(_ format: PixelFormat) throws {
        let canvas = try PixelCanvas(size: PixelSize(width: 3, height: 2), format: format)
        let (row, count) = (canvas.bytesPerRow, format.bytesPerPixel)
        canvas.withUnsafeMutableBytes { bytes in
            for index in 0..<count { bytes[row + 2 * count + index] = 255 }
        }
        let image = DecodedImage(pixels: canvas.finish(isOpaque: false))
        #expect(image.pixels.color(x: 2, y: 1) == .white)
        #expect(image.pixels.color(x: 0, y: 0) == .clear)
        #expect(!image.isOpaque && image.pixels.format == format)
        let red = PixelColor(red: 255, green: 0, blue: 0)
        let filled = try PixelBuffer.filled(with: red, size: PixelSize(width: 4, height: 4))
        #expect(
            filled.isOpaque && filled.colors(in: PixelRect(x: 0, y: 0, width: 4, height: 4)).allSatisfy { $0 == red })
    }

    @Test("A tint with a blend mode applies only within the mask of a blur")
    func maskedTint() throws {
        let size = PixelSize(width: 20, height: 10)
        let white = DecodedImage(pixels: try PixelBuffer.filled(with: .white, size: size))
        let half = try PixelCanvas(size: size)
        let row = half.bytesPerRow
        half.withUnsafeMutableBytes { bytes in
            for y in 0..<10 { for x in 0..<40 { bytes[y * row + 40 + x] = 255 } }
        }
        let red = PixelColor(red: 200, green: 0, blue: 0)
        let tinted = try StandardTransformer.blur(
            radius: 2, tint: red, tintBlendMode: .multiply, mask: half.finish(isOpaque: false)
        ).apply(to: white)
        #expect(tinted.pixels.color(x: 2, y: 5) == .white)
        #expect(tinted.pixels.color(x: 17, y: 5) == red)
    }

    @Test("Images that are loaded one by one become the frames of an animation")
    func animationImages() async throws {
        let table = try Migration()
        var frames: [(data: Data, duration: Duration)] = []
        for number in 1...3 {
            frames.append((try await table.manager.data(for: table.request(number)), .milliseconds(100)))
        }
        let animation = try ImageAnimation(encodedFrames: frames, loopCount: 0, coders: .standard)
        #expect(animation.frameCount == 3)
        let third = try animation.frame(at: 2)
        #expect(third.color(x: 5, y: 5) == (try TestImages.pixels(3).color(x: 5, y: 5)))
    }

    /// Returns a playing player and the pool of its frames.
    @MainActor
    private func player(_ table: Migration, limit: Int) async throws -> (AnimationPlayer, SharedFrameBuffer) {
        let image = try await table.manager.image(for: table.request(1, Migration.gif()))
        var options = AnimationPlayer.Options()
        options.frameBufferLimit = limit
        let player = try #require(AnimationPlayer(image, manager: table.manager, options: options))
        let pool = SharedFrameBufferRegistry.shared.pool(
            for: try #require(image.animation), firstFrame: image.pixels, manager: table.manager)
        player.play()
        return (player, pool)
    }

    @MainActor
    @Test("Without a limit, a player keeps all frames in memory")
    func preload() async throws {
        let table = try Migration()
        let (player, pool) = try await player(table, limit: .max)
        await untilTrue {
            _ = player.tick(at: .zero)
            return (0..<3).allSatisfy { pool.isAvailable($0) }
        }
        #expect(pool.bytes >= 2 * player.pixels.byteCount)
    }

    @MainActor
    @Test("preloadAllFrames: a player that doesn't play decodes all frames in advance")
    func preloadAll() async throws {
        let table = try Migration()
        let (player, pool) = try await player(table, limit: 0)
        var playback = player.options
        playback.preloadsFrames = true
        playback.frameBufferLimit = .max
        player.stop()
        player.options = playback
        await untilTrue { (0..<3).allSatisfy { pool.isAvailable($0) } }
    }

    @MainActor
    @Test("A lower limit releases the frames that aren't displayed")
    func unload() async throws {
        let table = try Migration()
        let (player, pool) = try await player(table, limit: .max)
        await untilTrue {
            _ = player.tick(at: .zero)
            return (0..<3).allSatisfy { pool.isAvailable($0) }
        }
        player.pause()
        player.options.frameBufferLimit = 1
        await untilTrue {
            _ = player.tick(at: .zero)
            return pool.bytes <= player.pixels.byteCount
        }
        #expect(player.frameIndex == 0)
    }

    @Test("Timing curves begin at 0, end at 1, and differ at a quarter of the time")
    func curves() {
        let values = ImageTransition.Curve.allCases.map { curve in
            #expect(curve.progress(at: 0) == 0 && curve.progress(at: 1) == 1)
            #expect(curve.progress(at: .nan) == 1 && curve.progress(at: -1) == 0)
            let steps = (0...100).map { curve.progress(at: Double($0) / 100) }
            #expect(zip(steps, steps.dropFirst()).allSatisfy { $0 <= $1 })
            return curve.progress(at: 0.25)
        }
        #expect(Set(values).count == ImageTransition.Curve.allCases.count)
        var transition = ImageTransition.crossFade()
        #expect(transition.curve == .easeInOut)
        transition.curve = .easeIn
        #expect(transition.curve.progress(at: 0.5) == 0.125)
    }
}
