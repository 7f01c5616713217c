// SPDX-License-Identifier: MIT

import CJPEG
import Foundation
import Testing

@testable import WebImageCodecs
@testable import WebImageCore

#if AVIF
    import CAVIF
#endif
#if JXL
    import CJXL
#endif
#if TIFF
    import CTIFF
#endif

/// The C modules allocate nothing for pixels, so a call in the wrong order must not write to the caller's memory.
@Suite("C functions of decoders in the wrong order")
struct ShimOrderTests {
    /// Calls `body` with memory for pixels, and checks that it's unchanged afterward.
    private func withUntouched(_ count: Int = 1 << 16, _ body: (UnsafeMutablePointer<UInt8>) throws -> Void) throws {
        var memory = [UInt8](repeating: 0xA5, count: count)
        try memory.withUnsafeMutableBufferPointer { try body(try #require($0.baseAddress)) }
        #expect(memory.allSatisfy { $0 == 0xA5 }, "the function wrote pixels")
    }

    @Test(
        "A JPEG decoder produces rows only after its start", arguments: ["420.jpg", "420-progressive.jpg", "cmyk.jpg"])
    func jpeg(_ file: String) throws {
        let data = [UInt8](try Fixture.named(file).data())
        try data.withUnsafeBufferPointer { bytes in
            let decoder = try #require(wi_jpeg_decoder_open(bytes.baseAddress, bytes.count, 0, 100))
            defer { wi_jpeg_decoder_close(decoder) }
            var done: UInt32 = 9
            var (width, height) = (UInt32(0), UInt32(0))
            var count = 0
            try withUntouched { out in
                #expect(wi_jpeg_decoder_rows(decoder, out, 4_096, 4, &done) == WI_JPEG_CORRUPT && done == 0)
            }
            #expect(wi_jpeg_decoder_icc(decoder, 1_000, &count) == nil)
            #expect(wi_jpeg_decoder_start(decoder, 1, &width, &height) == WI_JPEG_CORRUPT)
            var info = wi_jpeg_info()
            #expect(wi_jpeg_decoder_header(decoder, &info) == WI_JPEG_OK)
            try withUntouched { out in
                #expect(wi_jpeg_decoder_rows(decoder, out, 4_096, 4, &done) == WI_JPEG_CORRUPT && done == 0)
            }
            #expect(wi_jpeg_decoder_header(decoder, &info) == WI_JPEG_CORRUPT, "a second header")
            #expect(wi_jpeg_decoder_start(decoder, 1, &width, &height) == WI_JPEG_OK)
            #expect(wi_jpeg_decoder_start(decoder, 8, &width, &height) == WI_JPEG_CORRUPT, "a second start")
            try withUntouched { out in
                #expect(wi_jpeg_decoder_rows(decoder, out, Int(width) * 4 - 4, 4, &done) == WI_JPEG_CORRUPT)
            }
        }
    }

    @Test("A JPEG stream produces no output before its header, its start, and its first scan")
    func jpegStream() throws {
        let data = [UInt8](try Fixture.named("420-progressive.jpg").data())
        let decoder = try #require(wi_jpeg_stream_open(0, 100))
        defer { wi_jpeg_decoder_close(decoder) }
        var done: UInt32 = 0
        #expect(wi_jpeg_stream_begin_output(decoder) == WI_JPEG_CORRUPT)
        #expect(wi_jpeg_stream_end_output(decoder) == WI_JPEG_CORRUPT)
        #expect(wi_jpeg_stream_refinement(decoder) == 0 && wi_jpeg_stream_detail(decoder) == 0)
        try withUntouched { #expect(wi_jpeg_decoder_rows(decoder, $0, 4_096, 4, &done) == WI_JPEG_CORRUPT) }
        #expect(wi_jpeg_stream_feed(decoder, data, data.count, 1) == WI_JPEG_OK)
        var info = wi_jpeg_info()
        #expect(wi_jpeg_decoder_header(decoder, &info) == WI_JPEG_OK)
        #expect(wi_jpeg_stream_begin_output(decoder) == WI_JPEG_CORRUPT)
        var (width, height, left) = (UInt32(0), UInt32(0), Int32(0))
        #expect(wi_jpeg_decoder_start(decoder, 1, &width, &height) == WI_JPEG_OK)
        try withUntouched { #expect(wi_jpeg_decoder_rows(decoder, $0, 4_096, 4, &done) == WI_JPEG_CORRUPT) }
        #expect(wi_jpeg_stream_end_output(decoder) == WI_JPEG_CORRUPT)
        #expect(wi_jpeg_stream_absorb(decoder, 1_000_000, &left) == WI_JPEG_OK)
        #expect(wi_jpeg_stream_begin_output(decoder) == WI_JPEG_OK)
    }

    #if AVIF
        @Test("An AVIF decoder that didn't open a file produces no frames")
        func avif() throws {
            try CodecLibraries.load(.avif, with: wi_avif_load)
            let data = [UInt8](try Fixture.named("sequence.avif").data())
            try data.withUnsafeBufferPointer { bytes in
                var decoder: OpaquePointer?
                var info = wi_avif_info()
                var isPremultiplied: Int32 = 0
                #expect(wi_avif_open(bytes.baseAddress, 40, 1 << 20, 1 << 14, 100, 1, &info, &decoder) != WI_AVIF_OK)
                let closed = try #require(decoder)
                try withUntouched { #expect(wi_avif_frame(closed, 0, 8, $0, 4_096, &isPremultiplied) != WI_AVIF_OK) }
                #expect(wi_avif_mean_milliseconds(closed) == 0)
                wi_avif_close(closed)

                decoder = nil
                #expect(
                    wi_avif_open(bytes.baseAddress, bytes.count, 1 << 20, 1 << 14, 100, 1, &info, &decoder)
                        == WI_AVIF_OK)
                let opened = try #require(decoder)
                defer { wi_avif_close(opened) }
                let stride = Int(info.width) * 4
                try withUntouched { out in
                    #expect(wi_avif_frame(opened, info.frames, 8, out, stride, &isPremultiplied) != WI_AVIF_OK)
                    #expect(wi_avif_frame(opened, 0, 16, out, stride, &isPremultiplied) == WI_AVIF_INCONSISTENT)
                    #expect(wi_avif_frame(opened, 0, 8, out, stride - 1, &isPremultiplied) == WI_AVIF_INCONSISTENT)
                    #expect(wi_avif_frame(opened, .max, 8, out, stride, &isPremultiplied) != WI_AVIF_OK)
                }
            }
        }

        @Test("The still image and the image sequence of an AVIF file are decoded alternately")
        func avifTracks() throws {
            let fixture = try Fixture.named("sequence.avif")
            let data = try fixture.data()
            let expected = try fixture.expectedFrames()
            var item = try AVIFSource(data, usesTracks: false, limits: .desktop)
            var track = try AVIFSource(data, usesTracks: true, limits: .desktop)
            #expect(item.frameCount == 1 && track.frameCount == fixture.frames)
            for frame in [0, 3, 1, 2, 0] {
                let pixels = try track.decode(frame: frame, context: ImageProcessingContext())
                #expect(difference(pixels.packedBytes(), expected[frame]) <= fixture.tolerance)
                let still = try item.decode(frame: 0, context: ImageProcessingContext())
                #expect(difference(still.packedBytes(), expected[0]) <= fixture.tolerance)
                #expect(throws: ImageError.self) {
                    try item.decode(frame: frame + 1, context: ImageProcessingContext())
                }
            }
        }

        @Test(
            "A still image and an image sequence of different sizes never share memory", arguments: [1, 8, 39, 41, 400])
        func avifTrackSizes(_ width: Int) throws {
            // The property with the size of the still image contradicts the track and the coded frames.
            var data = try Fixture.named("sequence.avif").data()
            let place = try #require(data.range(of: Data("ispe".utf8))).upperBound + 4
            data.replaceSubrange(place..<place + 4, with: PNGParts.big(UInt32(width)))
            for usesTracks in [true, false] {
                guard var source = try? AVIFSource(data, usesTracks: usesTracks, limits: .desktop) else { continue }
                let size = source.storedSize
                for frame in 0..<2 {
                    guard let pixels = try? source.decode(frame: frame, context: ImageProcessingContext()) else {
                        continue
                    }
                    #expect(pixels.size == size)
                }
            }
            do throws(ImageError) {
                let image = try AVIFCoder().decode(
                    data, info: nil, options: ImageDecodingOptions(), context: ImageProcessingContext())
                #expect(image.size == PixelSize(width: 40, height: 30), "the sequence has another size")
            } catch {
                guard case .decoding = error else {
                    Issue.record("\(error)")
                    return
                }
            }
        }
    #endif

    #if TIFF
        @Test("A TIFF decoder produces rows only for the selected page")
        func tiff() throws {
            try CodecLibraries.load(.tiff, with: wi_tiff_load)
            let data = [UInt8](try Fixture.named("pages.tiff").data())
            try data.withUnsafeBufferPointer { bytes in
                var decoder: OpaquePointer?
                var info = wi_tiff_info()
                #expect(wi_tiff_open(bytes.baseAddress, 2, 1 << 20, &decoder) != WI_TIFF_OK)
                let closed = try #require(decoder)
                #expect(wi_tiff_pages(closed, 9) == 0)
                #expect(wi_tiff_page(closed, 0, &info) != WI_TIFF_OK)
                try withUntouched { #expect(wi_tiff_rows(closed, 0, 1, 0, $0, 4_096) != WI_TIFF_OK) }
                wi_tiff_close(closed)

                decoder = nil
                #expect(wi_tiff_open(bytes.baseAddress, bytes.count, 1 << 20, &decoder) == WI_TIFF_OK)
                let opened = try #require(decoder)
                defer { wi_tiff_close(opened) }
                try withUntouched { #expect(wi_tiff_rows(opened, 0, 1, 0, $0, 4_096) == WI_TIFF_CORRUPT) }
                #expect(wi_tiff_page(opened, 0, &info) == WI_TIFF_OK)
                #expect(wi_tiff_pages(opened, 9) > 1)
                // Counting the pages ends the selection.
                try withUntouched { #expect(wi_tiff_rows(opened, 0, 1, 0, $0, 4_096) == WI_TIFF_CORRUPT) }
                #expect(wi_tiff_page(opened, 0, &info) == WI_TIFF_OK)
                let stride = Int(info.width) * 4
                try withUntouched { out in
                    #expect(wi_tiff_rows(opened, 0, 1, 0, out, stride - 1) == WI_TIFF_CORRUPT)
                    #expect(wi_tiff_rows(opened, info.height, 1, 0, out, stride) == WI_TIFF_CORRUPT)
                    #expect(wi_tiff_rows(opened, 1, info.height, 0, out, stride) == WI_TIFF_CORRUPT)
                    // With 16 bits per sample, the rows need twice the memory.
                    wi_tiff_keep_depth(opened)
                    #expect(wi_tiff_rows(opened, 0, 1, 0, out, stride) == WI_TIFF_CORRUPT)
                }
                #expect(wi_tiff_page(opened, 99, &info) == WI_TIFF_END)
                try withUntouched { #expect(wi_tiff_rows(opened, 0, 1, 0, $0, 4_096) == WI_TIFF_CORRUPT) }
            }
        }
    #endif

    #if JXL
        @Test("A JPEG XL decoder produces only the frame that was selected")
        func jxl() throws {
            try CodecLibraries.load(.jxl, with: wi_jxl_load)
            let data = [UInt8](try Fixture.named("animated.jxl").data())
            try data.withUnsafeBufferPointer { bytes in
                var decoder: OpaquePointer?
                var info = wi_jxl_info()
                #expect(
                    wi_jxl_open(bytes.baseAddress, bytes.count, 64 << 20, WI_JXL_SRGB, &info, &decoder) == WI_JXL_OK)
                let opened = try #require(decoder)
                defer { wi_jxl_close(opened) }
                let stride = (Int(info.width) * 4 + 63) / 64 * 64
                func frame(_ out: UnsafeMutablePointer<UInt8>, stride: Int) -> wi_jxl_status {
                    var isDrawn: Int32 = 0
                    var status = WI_JXL_MORE
                    while status == WI_JXL_MORE { status = wi_jxl_frame(opened, 0, 8, out, stride, 64, &isDrawn) }
                    return status
                }
                try withUntouched { #expect(frame($0, stride: stride) == WI_JXL_INCONSISTENT) }
                let limits = wi_jxl_layer_limits(count: 100, side: 1_000, area: 1_000_000)
                var layer: [UInt32] = [0, 0]
                #expect(wi_jxl_check_layers(opened, limits, &layer) == WI_JXL_OK)
                try withUntouched { #expect(frame($0, stride: stride) == WI_JXL_INCONSISTENT) }
                #expect(wi_jxl_frame_begin(opened, 0) == WI_JXL_OK)
                try withUntouched { #expect(frame($0, stride: 16) == WI_JXL_INCONSISTENT) }
                #expect(wi_jxl_frame_begin(opened, 0) == WI_JXL_OK)
                var pixels = [UInt8](repeating: 0, count: stride * Int(info.height))
                pixels.withUnsafeMutableBufferPointer { buffer in
                    guard let out = buffer.baseAddress else { return }
                    #expect(frame(out, stride: stride) == WI_JXL_OK)
                }
                // libjxl would continue with the next frame.
                try withUntouched { #expect(frame($0, stride: stride) == WI_JXL_INCONSISTENT) }
                #expect(wi_jxl_frame_begin(opened, 99) == WI_JXL_OK)
                try withUntouched { #expect(frame($0, stride: stride) == WI_JXL_END) }
                var (ticks, count) = ([UInt32](repeating: 0, count: 9), UInt32(0))
                #expect(wi_jxl_frame_begin(opened, 0) == WI_JXL_OK)
                #expect(wi_jxl_index(opened, &ticks, 9, &count) == WI_JXL_OK && count == 4)
                try withUntouched { #expect(frame($0, stride: stride) == WI_JXL_INCONSISTENT) }
            }
        }
    #endif
}
