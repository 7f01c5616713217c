// SPDX-License-Identifier: MIT

#if JXL
    import Foundation
    import Synchronization
    import Testing
    import WebImageConcurrency
    import WebImageCore
    import WebImageTestBasics

    @testable import WebImageCodecs

    @Suite("Frames of JPEG XL files")
    struct JXLSourceTests {
        @Test("Data that ends before a frame is corrupt, and the error contains no number of frames")
        func missingFrame() throws {
            let fixture = try #require(Fixture.optional.first { $0.format == .jxl && $0.frames == 1 })
            var source = try JXLSource(fixture.data(), colorSpace: .sRGB, limits: .desktop)
            do throws(ImageError) {
                _ = try source.decode(frame: 3, context: ImageProcessingContext())
                Issue.record("the file has only one frame")
            } catch {
                #expect(
                    error == .decoding(.corrupted(format: .jxl, reason: "the data ends before frame 3")))
            }
        }

        @Test("A still image with more than 256 layers exceeds a limit before it's drawn")
        func layers() throws {
            let data = try Data(contentsOf: Fixtures.directory.appending(path: "formats/many-layers.jxl"))
            do throws(ImageError) {
                _ = try JXLSource(data, colorSpace: .sRGB, limits: .desktop)
                Issue.record("the file has 301 layers")
            } catch {
                #expect(
                    error
                        == .limitExceeded(
                            ImageError.LimitFailure(
                                .metadataSize, limit: 256, actual: 257, detail: "layers of a JPEG XL file")))
            }
            // Fewer layers are drawn over each other, as the reference of the fixture shows.
            let fixture = try Fixture.named("layers.jxl")
            #expect(try fixture.decode().pixels.packedBytes() == fixture.expectedFrames()[0])
        }

        @Test("Canceling a decode stops it between two pieces of the data, and the decoder remains usable")
        func cancellation() throws {
            // Random pixels make a file of several pieces.
            var random = SeededGenerator(7)
            let pixels = try PixelPatterns.make(width: 600, height: 500, isOpaque: true) { _, _ in
                SIMD4(
                    UInt8.random(in: 0...255, using: &random), UInt8.random(in: 0...255, using: &random),
                    UInt8.random(in: 0...255, using: &random), 255)
            }
            let data = try PixelPatterns.encode(pixels, as: ImageEncoding(format: .jxl, isLossless: true, effort: 1))
            #expect(data.count > 4 * 128 << 10)
            var source = try JXLSource(data, colorSpace: .sRGB, limits: .desktop)
            let whole = Lock(0)
            _ = try source.decode(
                frame: 0,
                context: ImageProcessingContext(isCancelled: {
                    whole.withLock { $0 += 1 }; return false
                }))
            let checks = whole.withLock { $0 }
            #expect(checks > 5, "the decoder checks the cancellation between pieces")
            for last in 1...checks {
                let count = Lock(0)
                let context = ImageProcessingContext(isCancelled: {
                    count.withLock { count in
                        count += 1
                        return count >= last
                    }
                })
                do throws(ImageError) {
                    _ = try source.decode(frame: 0, context: context)
                    Issue.record("check \(last) canceled the decode")
                } catch {
                    #expect(error == .cancelled)
                }
                #expect(count.withLock { $0 } == last, "no work continues after the cancellation")
            }
            let again = try source.decode(frame: 0, context: ImageProcessingContext())
            #expect(again.hasSamePixels(as: pixels))
        }
    }
#endif
