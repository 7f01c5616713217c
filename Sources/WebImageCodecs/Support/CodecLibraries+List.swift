// SPDX-License-Identifier: MIT

import CPNG
import WebImageCore

#if AVIF
    import CAVIF
#endif
#if HEIF
    import CHEIF
#endif

extension CodecLibraries {
    /// The libraries of the enabled traits with their versions, including the codecs of libavif and libheif.
    package static var list: [LibraryVersion] {
        var libraries = versions.compactMap(parsed)
        libraries.append(
            LibraryVersion(
                "libdeflate", wi_deflate_version().map { String(cString: $0) } ?? "?", isFromHeaders: true))
        var known = Set(libraries.map(\.name))
        for codec in av1Codecs + hevcCodecs where known.insert(codec.name).inserted { libraries.append(codec) }
        return libraries
    }

    /// Returns a library for a text such as `libpng 1.6.39`.
    private static func parsed(_ text: String) -> LibraryVersion? {
        let words = text.split(separator: " ")
        guard words.count == 2 else { return nil }
        let name = String(words[0])
        return LibraryVersion(
            name, String(words[1]), isFromHeaders: name == "libjpeg-turbo")
    }

    private static var av1Codecs: [LibraryVersion] {
        #if AVIF
            guard wi_avif_load() == nil else { return [] }
            // The size that the documentation of avifCodecVersions requires.
            var names = [CChar](repeating: 0, count: 256)
            wi_avif_codecs(&names)
            let text = String(decoding: names.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return av1Codecs(in: text)
        #else
            return []
        #endif
    }

    /// Returns the codecs in a text such as `dav1d [dec]:1.0.0-0-g99172b1, aom [enc/dec]:3.6.0`.
    package static func av1Codecs(in text: String) -> [LibraryVersion] {
        text.split(separator: ",").compactMap { part in
            let sides = part.split(separator: ":", maxSplits: 1)
            guard sides.count == 2, let name = sides[0].split(separator: " ").first else { return nil }
            let version = numbers(at: sides[1])
            return version.isEmpty ? nil : LibraryVersion(String(name), version)
        }
    }

    private static var hevcCodecs: [LibraryVersion] {
        #if HEIF
            guard wi_heif_load() == nil else { return [] }
            var found: [LibraryVersion] = []
            var index: Int32 = 0
            while let name = wi_heif_decoder_name(index) {
                if let codec = heifDecoder(in: String(cString: name)) { found.append(codec) }
                index += 1
            }
            return found
        #else
            return []
        #endif
    }

    /// Returns the library in a text such as `libde265 HEVC decoder, version 1.0.11`.
    package static func heifDecoder(in text: String) -> LibraryVersion? {
        guard let name = text.split(separator: " ").first,
            let range = text.firstRange(of: "version ")
        else { return nil }
        let version = numbers(at: text[range.upperBound...])
        return version.isEmpty ? nil : LibraryVersion(String(name), version)
    }

    /// Returns the number with dots at the beginning of a text, after a “v”.
    private static func numbers(at text: Substring) -> String {
        let number = text.drop { $0 == "v" || $0 == " " }.prefix { ("0"..."9").contains($0) || $0 == "." }
        return String(number)
    }
}
