// SPDX-License-Identifier: MIT

/// The modifications of an XMP packet (ISO 16684-1) that's copied to another file.
///
/// The packet is processed as text, because RDF allows too many representations of the same content to parse.
enum XMPPacket {
    static let maxBytes = 1 << 20

    /// Returns the packet for pixels with the orientation applied.
    ///
    /// The result is `nil` if the packet isn't UTF-8, isn't XMP, or is too long. It's also `nil` if `allowsLocation`
    /// is `false` and the packet mentions a location.
    static func prepared(_ packet: [UInt8], allowsLocation: Bool) -> [UInt8]? {
        guard packet.count <= maxBytes, let text = String(validating: packet, as: UTF8.self),
            text.contains("xmpmeta") || text.contains("rdf:RDF")
        else { return nil }
        if !allowsLocation, mentionsLocation(packet) { return nil }
        return upright(packet)
    }

    /// Returns whether the packet may contain a location, such as GPS data or the place names that editors write.
    static func mentionsLocation(_ packet: [UInt8]) -> Bool {
        let lower = packet.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }
        let names = [
            "gps", "location", "photoshop:city", "photoshop:state", "photoshop:country", "countrycode", "latitude",
            "longitude", "geo:", "&#",
        ]
        return names.contains { find(Array($0.utf8), in: lower, from: 0) != nil }
    }

    /// Sets each `tiff:ImageOrientation` attribute or element to 1.
    private static func upright(_ packet: [UInt8]) -> [UInt8] {
        var packet = packet
        let name = Array("tiff:Orientation".utf8)
        var place = 0
        while let found = find(name, in: packet, from: place) {
            place = found + name.count
            // Before the digit, there may be an equals sign, a quote, a bracket, and spaces.
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
