// SPDX-License-Identifier: MIT

#if JXL
    import Foundation
    import Testing
    import WebImageCore

    @testable import WebImageCodecs

    @Suite("Frames of JPEG XL files")
    struct JXLSourceTests {
        @Test("Data that ends before a frame is corrupt, and the error contains no number of frames")
        func missingFrame() throws {
            let fixture = try #require(Fixture.optional.first { $0.format == .jxl && $0.frames == 1 })
            var source = try JXLSource(fixture.data(), limits: .desktop)
            do throws(ImageError) {
                _ = try source.decode(frame: 3, context: ImageProcessingContext())
                Issue.record("the file has only one frame")
            } catch {
                #expect(
                    error == .decoding(.corrupted(format: .jxl, reason: "the data ends before frame 3")))
            }
        }
    }
#endif
