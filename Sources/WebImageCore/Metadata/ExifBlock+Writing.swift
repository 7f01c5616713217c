// SPDX-License-Identifier: MIT

extension ExifBlock {
    /// Fits the block to pixels that are encoded upright: orientation and sizes, and the colour space where they are sRGB.
    package mutating func fit(_ size: PixelSize, isSRGB: Bool) {
        replace(\.main, Tag.orientation, 1)
        replace(\.main, Tag.width, size.width)
        replace(\.main, Tag.height, size.height)
        replace(\.photo, Tag.photoWidth, size.width)
        replace(\.photo, Tag.photoHeight, size.height)
        thumbnail = nil
        guard isSRGB else { return }
        replace(\.photo, Tag.colorSpace, 1)
        // Its only content is which of two colour spaces (DCF 2.0) the pixels are in.
        rules = []
    }

    /// The block with nothing but an orientation.
    package static func only(_ orientation: Orientation) -> ExifBlock {
        var block = ExifBlock()
        block.main = [block.field(Tag.orientation, orientation.rawValue)]
        return block
    }

    /// Without what the maker of the camera wrote, which is often the larger part.
    package var withoutMakerNote: ExifBlock {
        var block = self
        block.photo.removeAll { $0.tag == Tag.makerNote }
        return block
    }

    /// The block without its position. What the note of the maker holds is not known; some makers put names of places there.
    package var withoutLocation: ExifBlock {
        var block = withoutMakerNote
        block.position = []
        return block
    }

    private mutating func replace(_ directory: WritableKeyPath<ExifBlock, [Field]>, _ tag: Int, _ value: Int) {
        guard let place = self[keyPath: directory].firstIndex(where: { $0.tag == tag }) else { return }
        self[keyPath: directory][place] = field(tag, value)
    }

    /// The block from its byte order mark on.
    package func serialized() -> [UInt8] {
        var photo = photo
        var main = main
        let hasPhoto = !photo.isEmpty || !rules.isEmpty
        // Where the directories lie is known once all are laid out; pointers have a size of their own already.
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

    private func pointer(_ tag: Int, _ offset: Int) -> Field {
        Field(tag: tag, kind: 4, count: 1, bytes: number(offset, 4))
    }

    private func set(_ fields: inout [Field], _ tag: Int, _ offset: Int) {
        guard let place = fields.firstIndex(where: { $0.tag == tag }) else { return }
        fields[place].bytes = number(offset, 4)
    }

    /// Bytes of a directory with its values, which begin at even places.
    private func length(_ fields: [Field]) -> Int {
        fields.reduce(6) { $0 + 12 + ($1.bytes.count > 4 ? ($1.bytes.count + 1) & ~1 : 0) }
    }

    private func append(_ fields: [Field], next: Int = 0, to bytes: inout [UInt8]) {
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

    /// IFD1 (Exif 2.32, section 4.5.5): a JPEG.
    private func append(thumbnail: [UInt8], to bytes: inout [UInt8]) {
        let compression = field(0x0103, 6)
        let start = pointer(0x0201, 0)
        let size = pointer(0x0202, thumbnail.count)
        var fields = [compression, start, size]
        fields[1].bytes = number(bytes.count + length(fields), 4)
        append(fields, to: &bytes)
        bytes += thumbnail
    }
}
