// SPDX-License-Identifier: MIT

import Testing
import WebImageCore

@testable import WebImageCodecs

@Suite("The libraries of the coders")
struct CodecLibrariesTests {
    @Test("Each library of the build reports a version that begins with a number, and has one entry")
    func list() {
        let list = CodecLibraries.list
        for library in list { #expect(library.version.contains(/^[0-9]+\.[0-9]/), "\(library)") }
        #expect(Set(list.map(\.name)).count == list.count)
        let names = Set(list.map(\.name))
        #expect(names.isSuperset(of: ["libjpeg-turbo", "libpng", "libwebp", "lcms2", "libdeflate"]))
        #if AVIF
            #expect(names.contains("libavif") && !names.isDisjoint(with: ["dav1d", "aom", "libgav1"]))
        #endif
        #if HEIF
            #expect(names.contains("libheif"))
        #endif
    }

    @Test("The codecs in the texts of libavif and libheif are recognized")
    func codecs() {
        #expect(
            CodecLibraries.av1Codecs(in: "dav1d [dec]:1.0.0-0-g99172b1, aom [enc/dec]:3.6.0, svt [enc]:v1.4.1") == [
                LibraryVersion("dav1d", "1.0.0"), LibraryVersion("aom", "3.6.0"), LibraryVersion("svt", "1.4.1"),
            ])
        #expect(CodecLibraries.av1Codecs(in: "x, y:z").isEmpty)
        #expect(
            CodecLibraries.heifDecoder(in: "libde265 HEVC decoder, version 1.0.11")
                == LibraryVersion("libde265", "1.0.11"))
        #expect(CodecLibraries.heifDecoder(in: "decoder") == nil)
    }
}
