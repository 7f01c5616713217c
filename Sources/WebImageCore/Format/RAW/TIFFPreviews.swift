// SPDX-License-Identifier: MIT

/// A search for JPEG previews in the directories of a RAW file with the structure of TIFF.
///
/// It follows the chain of directories and the directories in other directories. The positions of previews are those
/// that ExifTool documents: `JPEGInterchangeFormat`, `JpgFromRaw`, the single strip of a directory with JPEG
/// compression, and the previews in the maker note of Olympus, which has no other large preview.
struct TIFFPreviews {
    private let file: TIFFDirectory
    private var found = RAWPreviewList()
    private var pending: [Int]
    private var seen: Set<Int> = []

    static func read(_ bytes: HeaderBytes, format: ImageFormat) throws(HeaderParsingError) -> RAWPreviewList {
        guard let file = try TIFFDirectory(bytes, isRAW: true), file.firstOffset > 0 else {
            throw .corrupt(format, "the first directory is missing")
        }
        var reader = TIFFPreviews(file: file)
        while let offset = reader.pending.popLast() {
            // A set of offsets ends cycles.
            guard offset > 0, reader.seen.insert(offset).inserted else { continue }
            try HeaderParsingError.check(
                reader.seen.count, limit: HeaderBounds.rawDirectories, "directories in a RAW file")
            do throws(HeaderParsingError) {
                try reader.read(directory: offset)
            } catch {
                // Another directory of a complete file may be valid.
                if case .needsMore = error, !bytes.isComplete { throw error }
                if case .failed(.limitExceeded) = error { throw error }
            }
        }
        return reader.found
    }

    private init(file: TIFFDirectory) {
        self.file = file
        pending = [file.firstOffset]
    }

    private mutating func read(directory offset: Int) throws(HeaderParsingError) {
        let fields = try Fields(file, at: offset)
        if offset == file.firstOffset { found.orientation = fields.orientation }
        for (start, count) in fields.previews { try found.add(offset: start, count: count) }
        pending += fields.directories
        if let note = fields.makerNote { try readOlympusNote(note) }
        pending.append(try file.next(after: offset))
    }

    /// Reads the previews in the maker note of Olympus: one in the note itself, which old cameras write, and one in the
    /// camera settings (ExifTool, Olympus tags 0x1036, 0x1037, 0x2020, 0x0101, and 0x0102). Positions are relative to
    /// the maker note, except in its first version.
    private mutating func readOlympusNote(_ note: TIFFDirectory.Tag) throws(HeaderParsingError) {
        let bytes = try file.bytes.part(at: note.position, length: note.byteCount)
        let inner: TIFFDirectory
        let start: Int
        var base = note.position
        if try bytes.has("OLYMPUS\0") {
            inner = try directory(at: base, mark: 8)
            start = 12
        } else if try bytes.has("OM SYSTEM\0") {
            inner = try directory(at: base, mark: 12)
            start = 16
        } else if try bytes.has(anyOf: ["OLYMP\0", "EPSON\0"]) {
            inner = TIFFDirectory(file.bytes, order: file.order)
            start = note.position + 8
            base = 0
        } else {
            return
        }
        let fields = try inner.fields([0x1036, 0x1037, 0x2020], at: start, maxEntries: HeaderBounds.rawEntries)
        if let offset = fields[0x1036], let count = fields[0x1037] {
            try found.add(offset: offset.first, from: base, count: count.first)
        }
        guard let place = fields[0x2020] else { return }
        // The value is either the position of the directory or, with the type UNDEFINED, the directory itself.
        let settings = try inner.fields(
            [0x0101, 0x0102], at: place.valueSize == 1 ? place.position : place.first,
            maxEntries: HeaderBounds.rawEntries)
        guard let offset = settings[0x0101], let count = settings[0x0102] else { return }
        try found.add(offset: offset.first, from: base, count: count.first)
    }

    /// Returns the structure of a maker note at `base` with the byte order in `mark`, which is relative to `base`.
    private func directory(at base: Int, mark: Int) throws(HeaderParsingError) -> TIFFDirectory {
        let note = try file.bytes.rest(from: base)
        return TIFFDirectory(note, order: try note.has("MM", at: mark) ? .big : .little)
    }
}

extension TIFFPreviews {
    /// The tags of a directory that lead to previews.
    private struct Fields {
        private(set) var orientation: ImageOrientation?
        private(set) var previews: [(offset: Int, count: Int)] = []
        private(set) var directories: [Int] = []
        private(set) var makerNote: TIFFDirectory.Tag?

        init(_ file: TIFFDirectory, at offset: Int) throws(HeaderParsingError) {
            let values = try file.fields(Self.tags, at: offset, maxEntries: HeaderBounds.rawEntries)
            orientation = values[274].flatMap { ImageOrientation(rawValue: $0.first) }
            makerNote = values[37_500]
            if let inner = values[330] { directories += try file.values(of: inner, limit: HeaderBounds.rawDirectories) }
            if let exif = values[34_665] { directories.append(exif.first) }
            if let start = values[513], let count = values[514] { previews.append((start.first, count.first)) }
            if let whole = values[46], whole.valueSize == 1 { previews.append((whole.position, whole.count)) }
            // 6 and 7 are the JPEG compressions of TIFF.
            let isJPEG = values[259]?.first == 6 || values[259]?.first == 7
            if isJPEG, let start = values[273], let count = values[279], start.count == 1, count.count == 1 {
                previews.append((start.first, count.first))
            }
        }

        private static let tags: Set<Int> = [46, 259, 273, 274, 279, 330, 513, 514, 34_665, 37_500]
    }
}
