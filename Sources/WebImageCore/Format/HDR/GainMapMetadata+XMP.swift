// SPDX-License-Identifier: MIT

import Foundation

extension GainMapMetadata {
    /// The namespace of the properties of Ultra HDR and of Adobe's gain maps.
    package static let xmpNamespace = "http://ns.adobe.com/hdr-gain-map/1.0/"
    private static let appleNamespace = "http://ns.apple.com/HDRGainMap/1.0/"

    /// Reads the properties of a gain map in an XMP packet.
    ///
    /// - Parameters:
    ///   - packet: The packet of the gain map, not that of the base image.
    ///   - appleHeadroom: The headroom in the maker note of the base image, for older files of Apple's cameras.
    /// - Returns: The metadata, or `nil` if the packet contains no gain map or invalid numbers.
    package init?(xmp packet: [UInt8], appleHeadroom: Double? = nil) {
        guard packet.count <= XMPProperties.maxBytes else { return nil }
        if let properties = XMPProperties(packet, namespace: Self.xmpNamespace) {
            self.init(ultraHDR: properties)
        } else if let properties = XMPProperties(packet, namespace: Self.appleNamespace) {
            guard !properties.values("HDRGainMapVersion").isEmpty else { return nil }
            self.init(appleHeadroom: properties.values("HDRGainMapHeadroom").first ?? appleHeadroom)
        } else {
            return nil
        }
        guard isValid else { return nil }
    }

    /// Creates metadata for a gain map of Apple, whose samples decoders convert to logarithms.
    init?(appleHeadroom: Double?) {
        guard let headroom = appleHeadroom, headroom.isFinite, headroom > 1, headroom <= 256 else { return nil }
        self.init(kind: .apple, gainMax: log2(headroom), alternateHeadroom: log2(headroom))
        baseOffset = SIMD3(repeating: 0)
        alternateOffset = SIMD3(repeating: 0)
    }

    private init?(ultraHDR properties: XMPProperties) {
        // The base image and the gain map both have a version, but only the gain map has the other properties.
        guard !properties.text("Version").isEmpty, let capacity = properties.values("HDRCapacityMax").first,
            let gainMax = properties.channels("GainMapMax")
        else { return nil }
        self.init(kind: .ultraHDR, gainMax: 0, alternateHeadroom: capacity)
        self.gainMax = gainMax
        func read(_ name: String, or value: Double) -> SIMD3<Double>? {
            properties.text(name).isEmpty ? SIMD3(repeating: value) : properties.channels(name)
        }
        guard let gainMin = read("GainMapMin", or: 0), let gamma = read("Gamma", or: 1),
            let baseOffset = read("OffsetSDR", or: Self.defaultOffset),
            let alternateOffset = read("OffsetHDR", or: Self.defaultOffset),
            let minCapacity = read("HDRCapacityMin", or: 0)
        else { return nil }
        self.gainMin = gainMin
        self.gamma = gamma
        self.baseOffset = baseOffset
        self.alternateOffset = alternateOffset
        self.baseHeadroom = minCapacity.x
        if properties.text("BaseRenditionIsHDR").first == "True" {
            swap(&baseHeadroom, &alternateHeadroom)
            swap(&self.baseOffset, &self.alternateOffset)
        }
    }

    /// The XMP packet that describes the gain map according to Ultra HDR, version 1.
    package var xmpPacket: String {
        let (sdr, hdr) = hasHDRBase ? (alternateOffset, baseOffset) : (baseOffset, alternateOffset)
        var attributes = ""
        var elements = ""
        for (name, value) in [
            ("GainMapMin", gainMin), ("GainMapMax", gainMax), ("Gamma", gamma), ("OffsetSDR", sdr), ("OffsetHDR", hdr),
        ] {
            if value.x == value.y, value.y == value.z {
                attributes += " hdrgm:\(name)=\"\(Self.decimal(value.x))\""
            } else {
                let items = (0..<3).map { "<rdf:li>\(Self.decimal(value[$0]))</rdf:li>" }.joined()
                elements += "<hdrgm:\(name)><rdf:Seq>\(items)</rdf:Seq></hdrgm:\(name)>"
            }
        }
        attributes += " hdrgm:HDRCapacityMin=\"\(Self.decimal(min(baseHeadroom, alternateHeadroom)))\""
        attributes += " hdrgm:HDRCapacityMax=\"\(Self.decimal(max(baseHeadroom, alternateHeadroom)))\""
        attributes += " hdrgm:BaseRenditionIsHDR=\"\(hasHDRBase ? "True" : "False")\""
        return """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description rdf:about="" xmlns:hdrgm="\(Self.xmpNamespace)" hdrgm:Version="1.0"\(attributes)>\
            \(elements)</rdf:Description></rdf:RDF></x:xmpmeta>
            """
    }

    private static func decimal(_ value: Double) -> String {
        let scaled = Int((value * 1_000_000).rounded())
        let digits = String(scaled.magnitude % 1_000_000)
        let fraction = String(repeating: "0", count: 6 - digits.count) + digits
        return "\(scaled < 0 ? "-" : "")\(scaled.magnitude / 1_000_000).\(fraction)"
    }
}

/// The simple properties of one namespace in an XMP packet (ISO 16684-1), as attributes or as elements.
struct XMPProperties {
    static let maxBytes = 1 << 20
    /// The maximum number of items of one property. A gain map has at most three.
    private static let maxItems = 8

    private let bytes: [UInt8]
    private let prefix: String

    /// Finds the prefix of a namespace. The initializer returns `nil` if the packet doesn't declare the namespace.
    ///
    /// - Parameters:
    ///   - packet: The packet.
    ///   - namespace: The namespace.
    ///   - part: The part of the packet that contains the properties. The default is the whole packet.
    init?(_ packet: [UInt8], namespace: String, part: Range<Int>? = nil) {
        bytes = part.map { Array(packet[$0]) } ?? packet
        let quoted = ["\"\(namespace)\"", "'\(namespace)'"]
        guard let place = quoted.lazy.compactMap({ Self.find($0, in: packet, from: 0) }).first else { return nil }
        // The declaration is xmlns:prefix="namespace".
        var end = place
        while end > 0, Self.isSpace(packet[end - 1]) || packet[end - 1] == UInt8(ascii: "=") { end -= 1 }
        var start = end
        while start > 0, packet[start - 1] != UInt8(ascii: ":"), end - start < 64 { start -= 1 }
        guard start > 0, start < end, packet[start - 1] == UInt8(ascii: ":") else { return nil }
        prefix = String(decoding: packet[start..<end], as: UTF8.self)
    }

    /// Returns the parts of the packet that begin with an element, up to the next one or to the end of the packet.
    func elements(_ name: String, limit: Int) -> [Range<Int>] {
        let tag = "<\(prefix):\(name)"
        var starts: [Int] = []
        var place = 0
        while starts.count < limit, let found = Self.find(tag, in: bytes, from: place) {
            place = found + tag.utf8.count
            guard place < bytes.count else { break }
            let next = bytes[place]
            if Self.isSpace(next) || next == UInt8(ascii: ">") || next == UInt8(ascii: "/") { starts.append(found) }
        }
        return zip(starts, starts.dropFirst() + [bytes.count]).map { $0..<$1 }
    }

    /// Returns the finite numbers of a property, or an empty array if one of its items isn't a number.
    func values(_ name: String) -> [Double] {
        let items = text(name)
        let numbers = items.compactMap { Double($0) }.filter(\.isFinite)
        return numbers.count == items.count ? numbers : []
    }

    /// Returns the numbers of a property with one item for all channels or one for each channel.
    func channels(_ name: String) -> SIMD3<Double>? {
        let numbers = values(name)
        switch numbers.count {
        case 1: return SIMD3(repeating: numbers[0])
        case 3: return SIMD3(numbers)
        default: return nil
        }
    }

    /// Returns the items of a property as text, without the surrounding white space.
    func text(_ name: String) -> [String] {
        let full = "\(prefix):\(name)"
        var place = 0
        while let found = Self.find(full, in: bytes, from: place) {
            place = found + full.utf8.count
            guard found > 0, place < bytes.count else { return [] }
            if bytes[found - 1] == UInt8(ascii: "<") {
                return elementItems(from: place, end: "</\(full)>")
            }
            if Self.isSpace(bytes[found - 1]), let value = attribute(from: place) { return [value] }
        }
        return []
    }

    private func attribute(from start: Int) -> String? {
        var place = start
        while place < bytes.count, Self.isSpace(bytes[place]) { place += 1 }
        guard place < bytes.count, bytes[place] == UInt8(ascii: "=") else { return nil }
        place += 1
        while place < bytes.count, Self.isSpace(bytes[place]) { place += 1 }
        guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") || bytes[place] == UInt8(ascii: "'") else {
            return nil
        }
        guard let end = bytes[(place + 1)...].firstIndex(of: bytes[place]) else { return nil }
        return Self.trimmed(bytes[(place + 1)..<end])
    }

    private func elementItems(from start: Int, end: String) -> [String] {
        guard let open = bytes[start...].firstIndex(of: UInt8(ascii: ">")),
            let close = Self.find(end, in: bytes, from: open)
        else { return [] }
        var items: [String] = []
        var place = open
        while let item = Self.find("<rdf:li", in: bytes, from: place), item < close, items.count < Self.maxItems {
            guard let first = bytes[item...].firstIndex(of: UInt8(ascii: ">")),
                let last = Self.find("</rdf:li>", in: bytes, from: first), last <= close
            else { break }
            items.append(Self.trimmed(bytes[(first + 1)..<last]))
            place = last
        }
        return items.isEmpty ? [Self.trimmed(bytes[(open + 1)..<close])] : items
    }

    private static func trimmed(_ part: ArraySlice<UInt8>) -> String {
        let text = part.drop(while: isSpace)
        let end = text.lastIndex { !isSpace($0) } ?? text.startIndex - 1
        return String(decoding: text[text.startIndex..<end + 1], as: UTF8.self)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func find(_ text: String, in bytes: [UInt8], from start: Int) -> Int? {
        let wanted = Array(text.utf8)
        guard let first = wanted.first, start <= bytes.count - wanted.count else { return nil }
        for place in start...bytes.count - wanted.count where bytes[place] == first {
            if bytes[place..<place + wanted.count].elementsEqual(wanted) { return place }
        }
        return nil
    }
}
