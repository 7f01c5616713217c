// SPDX-License-Identifier: MIT

/// The list of the images in a JPEG file in its XMP packet (GContainer), which Ultra HDR 1.1 requires.
enum GainMapDirectory {
    private static let containerNamespace = "http://ns.google.com/photos/1.0/container/"
    private static let itemNamespace = "http://ns.google.com/photos/1.0/container/item/"

    /// Returns the positions of the gain maps in a file of `fileSize` bytes.
    ///
    /// The items follow the base image without gaps, except for their padding, and the last one ends with the file.
    /// Therefore, the sizes of the items determine their positions, even if that of the base image is unknown.
    static func gainMaps(_ packet: [UInt8], fileSize: Int) -> [Range<Int>] {
        guard let container = XMPProperties(packet, namespace: containerNamespace) else { return [] }
        let items = container.elements("Item", limit: JPEGGainMap.maxImages).compactMap {
            XMPProperties(packet, namespace: itemNamespace, part: $0)
        }
        var found: [Range<Int>] = []
        var end = fileSize
        // The first item is the base image.
        for item in items.dropFirst().reversed() {
            guard let length = size(item, "Length"), let padding = size(item, "Padding", default: 0) else { return [] }
            guard length > 4, length <= end, padding < end - length else { return [] }
            end -= padding
            if item.text("Semantic").first == "GainMap" { found.append(end - length..<end) }
            end -= length
        }
        return found
    }

    private static func size(_ item: XMPProperties, _ name: String, default missing: Int? = nil) -> Int? {
        guard let text = item.text(name).first else { return missing }
        return Int(text).flatMap { $0 >= 0 ? $0 : nil }
    }
}
