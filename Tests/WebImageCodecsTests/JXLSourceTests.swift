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
            let failure = ImageError.LimitFailure(
                .metadataSize, limit: 256, actual: 257, detail: "layers of a JPEG XL file")
            let data = try Data(contentsOf: Fixtures.directory.appending(path: "formats/many-layers.jxl"))
            do throws(ImageError) {
                _ = try JXLSource(data, colorSpace: .sRGB, limits: .desktop)
                Issue.record("the file has 301 layers")
            } catch {
                #expect(error == .limitExceeded(failure))
            }
            #expect(previewFailure(data, .desktop) == .limitExceeded(failure))
            // Fewer layers are drawn over each other, as the reference of the fixture shows.
            let fixture = try Fixture.named("layers.jxl")
            #expect(try fixture.decode().pixels.packedBytes() == fixture.expectedFrames()[0])
        }

        /// Returns the error of a progressive decoder that receives the data in pieces of 100 bytes.
        private func previewFailure(_ data: Data, _ limits: ImageLimits) -> ImageError? {
            do throws(ImageError) {
                let context = ImageProcessingContext(limits: limits)
                var decoder = try JXLIncrementalDecoder(probe: ImageInfo(data: data), context: context)
                let bytes = [UInt8](data)
                for start in stride(from: 0, to: bytes.count, by: 100) {
                    let end = min(start + 100, bytes.count)
                    try bytes[start..<end].withUnsafeBufferPointer { (piece) throws(ImageError) in
                        try decoder.append(piece, isLast: end == bytes.count, context: context)
                    }
                }
                return nil
            } catch {
                return error
            }
        }

        @Test(
            "A layer that is larger than the limits is rejected from its header, also in previews",
            arguments: [
                (ImageError.LimitFailure.Kind.pixelCount, 1_000_000, 1_040_000), (.dimension, 1_200, 1_300),
            ])
        func largeLayer(kind: ImageError.LimitFailure.Kind, limit: Int, actual: Int) throws {
            // The image has 8 × 8 pixels, and its second layer has 1,300 × 800.
            let data = try Data(contentsOf: Fixtures.directory.appending(path: "formats/large-layer.jxl"))
            var limits = ImageLimits.desktop
            if kind == .pixelCount { limits.maxPixels = limit } else { limits.maxDimension = limit }
            let failure = ImageError.LimitFailure(
                kind, limit: limit, actual: actual, detail: "a layer of a JPEG XL file")
            do throws(ImageError) {
                _ = try JXLSource(data, colorSpace: .sRGB, limits: limits)
                Issue.record("the layer exceeds the limit")
            } catch {
                #expect(error == .limitExceeded(failure))
            }
            #expect(previewFailure(data, limits) == .limitExceeded(failure))
            let image = try ImageCoderRegistry.standard.decode(data)
            #expect(image.size == PixelSize(width: 8, height: 8))
            #expect(Array(image.pixels.packedBytes().prefix(4)) == [200, 30, 60, 255])
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

        @Test("The header has the color space that libjxl reports")
        func colorSpaces() throws {
            var count = 0
            for folder in ["colors", "depth", "formats"] {
                let directory = Fixtures.directory.appending(path: folder)
                for name in try FileManager.default.contentsOfDirectory(atPath: directory.path)
                where name.hasSuffix(".jxl") {
                    let data = try Data(contentsOf: directory.appending(path: name))
                    let info = try ImageInfo(data: data)
                    let options = ImageDecodingOptions(frames: .first, color: .source)
                    guard let image = try? ImageCoderRegistry.standard.decode(data, options: options) else { continue }
                    // Code points can't describe all color spaces, and libjxl reports a gamma in another way.
                    guard let points = info.codePoints, points.primaries != 2, ![2, 4, 5].contains(points.transfer)
                    else {
                        #expect(!name.hasPrefix("cicp"), "\(name)")
                        continue
                    }
                    #expect(image.metadata.sourceCodePoints ?? .sRGB == points, "\(name)")
                    count += 1
                }
            }
            #expect(count > 15, "\(count)")
        }
    }
#endif
