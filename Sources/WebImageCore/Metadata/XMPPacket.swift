// SPDX-License-Identifier: MIT

/// What has to be changed in an XMP packet (ISO 16684-1) before it goes into another file. It is looked at as text: there
/// are too many ways of writing the same in RDF to take it apart.
enum XMPPacket {
    /// Bytes of a packet that is read or written.
    static let maxBytes = 1 << 20

    /// The packet for pixels that stand upright; nil for what is no UTF-8, or not XMP, or too long, or where
    /// `allowsLocation` is false and it mentions a position.
    static func prepared(_ packet: [UInt8], allowsLocation: Bool) -> [UInt8]? {
        guard packet.count <= maxBytes, let text = String(validating: packet, as: UTF8.self),
            text.contains("xmpmeta") || text.contains("rdf:RDF")
        else { return nil }
        if !allowsLocation, mentionsLocation(packet) { return nil }
        return upright(packet)
    }

    /// Whether anything in it may be a position: GPS, or the names of places that editors write.
    static func mentionsLocation(_ packet: [UInt8]) -> Bool {
        let lower = packet.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }
        let names = [
            "gps", "location", "photoshop:city", "photoshop:state", "photoshop:country", "countrycode", "latitude",
            "longitude", "geo:", "&#",
        ]
        return names.contains { find(Array($0.utf8), in: lower, from: 0) != nil }
    }

    /// Sets every `tiff:Orientation` to 1, as an attribute or as an element.
    private static func upright(_ packet: [UInt8]) -> [UInt8] {
        var packet = packet
        let name = Array("tiff:Orientation".utf8)
        var place = 0
        while let found = find(name, in: packet, from: place) {
            place = found + name.count
            // The digit follows within an equals sign, a quote, a bracket and blanks.
            for next in place..<min(place + 8, packet.count) {
                if (0x31...0x38).contains(packet[next]) {
                    packet[next] = 0x31
                    break
                }
                guard [0x3D, 0x22, 0x27, 0x3E, 0x20].contains(packet[next]) else { break }
            }
        }
        return packet
    }

    private static func find(_ text: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard bytes.count - start >= text.count, let first = text.first else { return nil }
        for place in start...bytes.count - text.count where bytes[place] == first {
            if bytes[place..<place + text.count].elementsEqual(text) { return place }
        }
        return nil
    }
}
