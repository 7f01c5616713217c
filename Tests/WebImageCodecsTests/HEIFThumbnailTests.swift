// SPDX-License-Identifier: MIT

#if HEIF
    import Foundation
    import Testing
    import WebImageCore

    @testable import WebImageCodecs

    /// The fixture has 64 × 48 pixels and a thumbnail of 16 × 12 pixels.
    @Suite("Thumbnails in HEIF files")
    struct HEIFThumbnailTests {
        private func thumbnail(
            _ file: String, width: Double, height: Double, _ preservesBitDepth: Bool = false
        )
            throws -> PixelSize?
        {
            try Fixture.named(file).data().withBytes { (bytes) throws(ImageError) in
                var reader = try HEIFReader(bytes, imageIndex: 0, limits: .desktop)
                guard reader.useThumbnail(width: width, height: height, preservesBitDepth: preservesBitDepth) else {
                    return nil
                }
                let size = try reader.decode(
                    color: nil, preservesBitDepth: preservesBitDepth, context: ImageProcessingContext()
                ).size
                reader.useFullImage()
                return try reader.decode(
                    color: nil, preservesBitDepth: preservesBitDepth,
                    context: ImageProcessingContext()
                ).size == reader.size
                    ? size : nil
            }
        }

        @Test("A thumbnail is used if it has enough pixels")
        func isLargeEnough() throws {
            let own = PixelSize(width: 16, height: 12)
            #expect(try thumbnail("thumbnail.heic", width: 16, height: 12) == own)
            #expect(try thumbnail("thumbnail.heic", width: 3, height: 3) == own)
            #expect(try thumbnail("thumbnail.heic", width: 16.1, height: 12) == nil)
            #expect(try thumbnail("thumbnail.heic", width: 16, height: 13) == nil)
            #expect(try thumbnail("420.heic", width: 1, height: 1) == nil)
        }

        @Test(
            "With a thumbnail, the size is the same and the pixels are similar", arguments: [4, 8, 12, 15, 16, 17, 40])
        func looksAlike(_ side: Int) throws {
            for target in [
                TargetSize.fit(width: Double(side), height: Double(side)),
                .fill(width: Double(side), height: Double(side)),
            ] {
                let options = ImageDecodingOptions(size: target)
                let quick = try Fixture.named("thumbnail.heic").decode(options)
                let whole = try Fixture.named("420.heic").decode(options)
                #expect(quick.size == whole.size && quick.metadata == whole.metadata)
                // heif-enc creates thumbnails by omitting pixels.
                #expect(similarity(quick.pixels, whole.pixels) > 20)
            }
        }

        @Test("Without a target size, the full image is decoded")
        func isNotUsed() throws {
            let pixels = try Fixture.named("thumbnail.heic").decode().pixels
            #expect(try pixels.packedBytes() == Fixture.named("420.heic").decode().pixels.packedBytes())
        }
    }
#endif
