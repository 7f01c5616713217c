// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import Synchronization
    import WebImage
    import WebImageCore
    import WebImageTesting
    import XCTest

    @testable import WebImageGTK

    /// The color states of textures, with functions that stand in for those of GTK 4.16.
    final class TextureColorTests: XCTestCase {
        /// The calls of the functions, in order.
        private static let calls = Mutex<[String]>([])
        /// The pixels that the builder received.
        private static let parts = Mutex<Parts>(Parts())

        /// Safe: the pointer is only used during the call of the function that sets it.
        private struct Parts: @unchecked Sendable {
            var bytes: OpaquePointer?
            var width: Int32 = 0
            var height: Int32 = 0
            var stride = 0
            var format: UInt32 = 0
        }

        private static func record(_ text: String) { calls.withLock { $0.append(text) } }

        private static func newObject() -> UnsafeMutableRawPointer? {
            // The type GObject has a constant number.
            g_object_new_with_properties(GType(20 << 2), 0, nil, nil).map { UnsafeMutableRawPointer($0) }
        }

        private typealias Number = @convention(c) (UnsafeMutableRawPointer?, UInt32) -> Void
        private typealias Pointer = @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void
        private typealias Make = @convention(c) () -> UnsafeMutableRawPointer?
        private typealias Build = @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
        private typealias BuildState =
            @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
        private typealias Release = @convention(c) (UnsafeMutableRawPointer?) -> Void
        private typealias Size = @convention(c) (UnsafeMutableRawPointer?, Int) -> Void

        private static func erased(_ function: Number) -> UnsafeMutableRawPointer {
            unsafeBitCast(function, to: UnsafeMutableRawPointer.self)
        }

        private static let lookup: GTKTexture.SymbolLookup = { name in
            guard let name else { return nil }
            switch String(cString: name) {
            case "gdk_memory_texture_builder_new", "gdk_cicp_params_new":
                let make: Make = { TextureColorTests.newObject() }
                return unsafeBitCast(make, to: UnsafeMutableRawPointer.self)
            case "gdk_memory_texture_builder_set_bytes":
                let set: Pointer = { _, bytes in
                    TextureColorTests.parts.withLock { $0.bytes = bytes.map { OpaquePointer($0) } }
                }
                return unsafeBitCast(set, to: UnsafeMutableRawPointer.self)
            case "gdk_memory_texture_builder_set_width":
                return TextureColorTests.erased { _, width in
                    TextureColorTests.parts.withLock { $0.width = Int32(width) }
                }
            case "gdk_memory_texture_builder_set_height":
                return TextureColorTests.erased { _, height in
                    TextureColorTests.parts.withLock { $0.height = Int32(height) }
                }
            case "gdk_memory_texture_builder_set_stride":
                let set: Size = { _, stride in TextureColorTests.parts.withLock { $0.stride = stride } }
                return unsafeBitCast(set, to: UnsafeMutableRawPointer.self)
            case "gdk_memory_texture_builder_set_format":
                return TextureColorTests.erased { _, format in TextureColorTests.parts.withLock { $0.format = format } }
            case "gdk_memory_texture_builder_set_color_state":
                let set: Pointer = { _, state in
                    TextureColorTests.record("state \(UInt(bitPattern: state))")
                }
                return unsafeBitCast(set, to: UnsafeMutableRawPointer.self)
            case "gdk_memory_texture_builder_build":
                let build: Build = { _ in
                    TextureColorTests.record("build")
                    let parts = TextureColorTests.parts.withLock { $0 }
                    let texture = gdk_memory_texture_new(
                        parts.width, parts.height, GdkMemoryFormat(rawValue: parts.format), parts.bytes,
                        gsize(parts.stride))
                    return texture.map { UnsafeMutableRawPointer($0) }
                }
                return unsafeBitCast(build, to: UnsafeMutableRawPointer.self)
            case "gdk_cicp_params_set_color_primaries":
                return TextureColorTests.erased { _, value in TextureColorTests.record("primaries \(value)") }
            case "gdk_cicp_params_set_transfer_function":
                return TextureColorTests.erased { _, value in TextureColorTests.record("transfer \(value)") }
            case "gdk_cicp_params_set_matrix_coefficients":
                return TextureColorTests.erased { _, value in TextureColorTests.record("matrix \(value)") }
            case "gdk_cicp_params_set_range":
                return TextureColorTests.erased { _, value in TextureColorTests.record("range \(value)") }
            case "gdk_cicp_params_build_color_state":
                let build: BuildState = { _, _ in UnsafeMutableRawPointer(bitPattern: 0x1000) }
                return unsafeBitCast(build, to: UnsafeMutableRawPointer.self)
            case "gdk_color_state_unref":
                let release: Release = { _ in TextureColorTests.record("unref") }
                return unsafeBitCast(release, to: UnsafeMutableRawPointer.self)
            default: return nil
            }
        }

        private static func pixels() throws -> PixelBuffer {
            let canvas = try PixelCanvas(size: PixelSize(width: 5, height: 3))
            canvas.withUnsafeMutableBytes { bytes in
                for row in 0..<3 {
                    for index in 0..<20 {
                        bytes[row * canvas.bytesPerRow + index] = index % 4 == 3 ? 255 : UInt8(row * 40 + index)
                    }
                }
            }
            return canvas.finish(isOpaque: true)
        }

        private static func download(_ texture: GTKTexture) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 5 * 3 * 4)
            gdk_texture_download(texture.pointer, &bytes, 5 * 4)
            return bytes
        }

        func testDisplayP3AndPQHaveTheirColorStatesAndTheSamePixels() throws {
            try Stand.run {
                Self.calls.withLock { $0 = [] }
                let plain = Self.download(GTKTexture.texture(for: try Self.pixels()))
                XCTAssertEqual(Self.calls.withLock { $0 }, [])
                for color in [ColorCodePoints.displayP3, .pq] {
                    Self.calls.withLock { $0 = [] }
                    let tagged = GTKTexture.texture(for: try Self.pixels(), color: color, lookup: Self.lookup)
                    XCTAssertEqual(
                        Self.calls.withLock { $0 },
                        [
                            "primaries \(color.primaries)", "transfer \(color.transfer)", "matrix 0", "range 1",
                            "state \(0x1000)", "build", "unref",
                        ])
                    XCTAssertEqual(Self.download(tagged), plain)
                }
            }
        }

        func testSRGBAndOlderVersionsOfGTKHavePlainTextures() throws {
            try Stand.run {
                Self.calls.withLock { $0 = [] }
                let plain = Self.download(GTKTexture.texture(for: try Self.pixels()))
                let texture = GTKTexture.texture(for: try Self.pixels(), color: nil, lookup: Self.lookup)
                XCTAssertEqual(Self.download(texture), plain)
                for color in [ColorCodePoints.displayP3, .pq] {
                    let older = GTKTexture.texture(for: try Self.pixels(), color: color) { _ in nil }
                    XCTAssertEqual(Self.download(older), plain)
                }
                XCTAssertEqual(Self.calls.withLock { $0 }, [])
            }
        }

        func testOnlyDisplayP3AndHighDynamicRangeHaveCodePointsForTextures() throws {
            let pixels = try Self.pixels()
            var metadata = ImageMetadata(storedSize: pixels.size)
            func points() -> ColorCodePoints? { DecodedImage(pixels: pixels, metadata: metadata).displayedCodePoints }
            XCTAssertNil(points())
            metadata.color = .displayP3
            XCTAssertEqual(points(), .displayP3)
            metadata.color = .source
            XCTAssertNil(points())
            for transfer in [16, 18] {
                (metadata.colorPrimaries, metadata.transferCharacteristics) = (9, transfer)
                XCTAssertEqual(points(), ColorCodePoints(primaries: 9, transfer: transfer))
                let frames = [(pixels: pixels, duration: Duration.milliseconds(40))]
                let animated = DecodedImage(
                    pixels: pixels, animation: try ImageAnimation(frames: frames + frames), metadata: metadata)
                XCTAssertNil(animated.displayedCodePoints)
            }
            metadata.transferCharacteristics = 13
            XCTAssertNil(points())
        }

        func testSupportDependsOnTheFunctionsOfGTK() throws {
            for color in [ColorCodePoints.displayP3, .pq] {
                Self.calls.withLock { $0 = [] }
                XCTAssertTrue(GTKTexture.supports(color, lookup: Self.lookup))
                XCTAssertEqual(
                    Self.calls.withLock { $0 },
                    [
                        "primaries \(color.primaries)", "transfer \(color.transfer)", "matrix 0", "range 1", "unref",
                    ])
                XCTAssertFalse(GTKTexture.supports(color, lookup: { _ in nil }))
            }
            let hasColorStates = gtk_get_minor_version() >= 16
            XCTAssertEqual(GTKTexture.supportsDisplayP3, hasColorStates)
            XCTAssertEqual(GTKTexture.supportsHighDynamicRange, hasColorStates)
        }

        func testViewsDecodeToDisplayP3IfTheOptionIsSetAndGTKHasColorStates() throws {
            let url = try XCTUnwrap(URL(string: "https://example.com/a.jpg"))
            var request = ImageRequest(url: url)
            var options = ImageViewOptions()
            func color(_ canShow: Bool = true) -> ImageColorSpace {
                options.adapted(request, canShowDisplayP3: canShow, canShowPQ: canShow).decoding.color
            }
            XCTAssertEqual(color(), .sRGB)
            options.showsWideGamut = true
            XCTAssertEqual(color(), .displayP3)
            XCTAssertEqual(color(false), .sRGB)
            request.transformers = [StandardTransformer.grayscale]
            XCTAssertEqual(color(), .sRGB)
            request.transformers = [StandardTransformer.flipHorizontally]
            request.decoding.color = .source
            XCTAssertEqual(color(), .source)
        }

        func testViewsDecodeToPQIfTheRequestAsksForItAndGTKHasColorStates() throws {
            let url = try XCTUnwrap(URL(string: "https://example.com/a.jpg"))
            var request = ImageRequest(url: url)
            func range(_ canShow: Bool = true) -> ImageDecodingOptions.DynamicRange {
                ImageViewOptions().adapted(request, canShowDisplayP3: canShow, canShowPQ: canShow).decoding.dynamicRange
            }
            XCTAssertEqual(range(), .standard)
            for wanted in [ImageDecodingOptions.DynamicRange.high, .pq] {
                request.decoding.dynamicRange = wanted
                request.transformers = [StandardTransformer.flipHorizontally]
                XCTAssertEqual(range(), .pq)
                XCTAssertEqual(range(false), .standard)
                request.transformers = [StandardTransformer.grayscale]
                XCTAssertEqual(range(), .standard)
            }
        }

        func testViewsShowTheStandardRangeWithoutColorStates() throws {
            guard !GTKTexture.supportsHighDynamicRange else { throw XCTSkip("GTK has color states") }
            try Stand.run {
                let canvas = try PixelCanvas(size: PixelSize(width: 40, height: 30), format: .rgba16)
                canvas.withUnsafeMutableBytes { bytes in
                    for index in 0..<bytes.count / 2 {
                        let samples: [UInt16] = [30_000, 38_000, 38_000, 65_535]
                        bytes.storeBytes(of: samples[index % 4], toByteOffset: index * 2, as: UInt16.self)
                    }
                }
                var metadata = ImageMetadata(storedSize: PixelSize(width: 40, height: 30))
                metadata.color = .source
                (metadata.colorPrimaries, metadata.transferCharacteristics) = (9, 16)
                let image = DecodedImage(pixels: canvas.finish(isOpaque: true), metadata: metadata)
                let file = try image.encoded(as: .png)
                XCTAssertEqual(try ImageInfo(data: file).codePoints, .pq)
                let picture = try XCTUnwrap(gtk_picture_new())
                let window = try TestWindow(picture)
                let manager = Sources.manager(StubLoader { _ in StubLoader.Response(body: file) })
                let view = try XCTUnwrap(WebImageView(for: picture, manager: manager))
                window.show()
                var request = ImageRequest(url: Sources.url("a"))
                request.decoding.dynamicRange = .high
                view.load(request)
                Stand.pump("the image") { view.snapshot().state == .showing }
                window.frame()
                let expected = try DecodedImage(data: file).pixels.packedBytes().prefix(3).map { Int($0) }
                assertColor(try window.screenshot().middle, expected, within: 1)
                window.close()
            }
        }

        func testTextureOfAnImageInDisplayP3IsShared() throws {
            try Stand.run {
                var metadata = ImageMetadata(storedSize: PixelSize(width: 5, height: 3))
                metadata.color = .displayP3
                let image = DecodedImage(pixels: try Self.pixels(), metadata: metadata)
                XCTAssertTrue(GTKTexture.texture(for: image) === GTKTexture.texture(for: image.pixels))
            }
        }
    }
#endif
