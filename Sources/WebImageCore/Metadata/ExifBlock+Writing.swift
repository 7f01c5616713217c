// SPDX-License-Identifier: MIT

extension ExifBlock {
    /// Adapts the block to encoded pixels whose orientation is applied. This method updates the orientation and the
    /// sizes and, for sRGB pixels, the color space.
    package mutating func fit(_ size: PixelSize, isSRGB: Bool) {
        replace(\.main, Tag.orientation, 1)
        replace(\.main, Tag.width, size.width)
        replace(\.main, Tag.height, size.height)
        replace(\.photo, Tag.photoWidth, size.width)
        replace(\.photo, Tag.photoHeight, size.height)
        thumbnail = nil
        guard isSRGB else { return }
        replace(\.photo, Tag.colorSpace, 1)
        // This directory only identifies one of two color spaces (DCF 2.0).
        rules = []
    }

    /// Returns a block that contains only an orientation.
    package static func only(_ orientation: ImageOrientation) -> ExifBlock {
        var block = ExifBlock()
        block.main = [block.entry(Tag.orientation, orientation.rawValue)]
        return block
    }

    /// The block without the maker note of the camera, which is often the larger part.
    package var withoutMakerNote: ExifBlock {
        var block = self
        block.photo.removeAll { $0.tag == Tag.makerNote }
        return block
    }

    /// The block without the location. The maker note is also omitted, because its content is unknown, and some
    /// manufacturers store place names there.
    package var withoutLocation: ExifBlock {
        var block = withoutMakerNote
        block.position = []
        return block
    }

    /// A block with only the author and the copyright (Exif 2.32, section 4.6.5).
    package var copyrightOnly: ExifBlock {
        var block = ExifBlock()
        block.isBigEndian = isBigEndian
        block.main = main.filter { Tag.rights.contains($0.tag) }
        return block
    }

    private mutating func replace(_ directory: WritableKeyPath<ExifBlock, [Entry]>, _ tag: Int, _ value: Int) {
        guard let place = self[keyPath: directory].firstIndex(where: { $0.tag == tag }) else { return }
        self[keyPath: directory][place] = entry(tag, value)
    }

    /// Returns the encoded block, starting with its byte order mark.
    package func serialized() -> [UInt8] {
        var photo = photo
        var main = main
        let hasPhoto = !photo.isEmpty || !rules.isEmpty
        // The offsets of the directories are known only after the layout, but pointers have a fixed size. Add
        // placeholders first.
        if !rules.isEmpty { photo.append(pointer(Tag.rules, 0)) }
        if hasPhoto { main.append(pointer(Tag.photo, 0)) }
        if !position.isEmpty { main.append(pointer(Tag.position, 0)) }
        let photoStart = 8 + length(main)
        let positionStart = photoStart + (hasPhoto ? length(photo) : 0)
        let rulesStart = positionStart + (position.isEmpty ? 0 : length(position))
        let thumbnailStart = rulesStart + (rules.isEmpty ? 0 : length(rules))
        set(&photo, Tag.rules, rulesStart)
        set(&main, Tag.photo, photoStart)
        set(&main, Tag.position, positionStart)
        var bytes = isBigEndian ? [0x4D, 0x4D, 0, 42] : [0x49, 0x49, 42, 0] as [UInt8]
        bytes += number(8, 4)
        append(main, next: thumbnail == nil ? 0 : thumbnailStart, to: &bytes)
        if hasPhoto { append(photo, to: &bytes) }
        if !position.isEmpty { append(position, to: &bytes) }
        if !rules.isEmpty { append(rules, to: &bytes) }
        if let thumbnail { append(thumbnail: thumbnail, to: &bytes) }
        return bytes
    }

    private func pointer(_ tag: Int, _ offset: Int) -> Entry {
        Entry(tag: tag, kind: 4, count: 1, bytes: number(offset, 4))
    }

    private func set(_ fields: inout [Entry], _ tag: Int, _ offset: Int) {
        guard let place = fields.firstIndex(where: { $0.tag == tag }) else { return }
        fields[place].bytes = number(offset, 4)
    }

    /// Returns the size in bytes of a directory and its values, which begin at even offsets.
    private func length(_ fields: [Entry]) -> Int {
        fields.reduce(6) { $0 + 12 + ($1.bytes.count > 4 ? ($1.bytes.count + 1) & ~1 : 0) }
    }

    private func append(_ fields: [Entry], next: Int = 0, to bytes: inout [UInt8]) {
        var place = bytes.count + 6 + fields.count * 12
        var values: [UInt8] = []
        bytes += number(fields.count, 2)
        for field in fields.sorted(by: { $0.tag < $1.tag }) {
            bytes += number(field.tag, 2) + number(field.kind, 2) + number(field.count, 4)
            if field.bytes.count <= 4 {
                bytes += field.bytes + [UInt8](repeating: 0, count: 4 - field.bytes.count)
            } else {
                bytes += number(place, 4)
                values += field.bytes
                if field.bytes.count % 2 == 1 { values.append(0) }
                place += (field.bytes.count + 1) & ~1
            }
        }
        bytes += number(next, 4) + values
    }

    /// Appends IFD1 (Exif 2.32, section 4.5.5) with a JPEG thumbnail.
    private func append(thumbnail: [UInt8], to bytes: inout [UInt8]) {
        let compression = entry(0x0103, 6)
        let start = pointer(0x0201, 0)
        let size = pointer(0x0202, thumbnail.count)
        var fields = [compression, start, size]
        fields[1].bytes = number(bytes.count + length(fields), 4)
        append(fields, to: &bytes)
        bytes += thumbnail
    }
}
