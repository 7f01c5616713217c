// SPDX-License-Identifier: MIT

import CHash
import Foundation
import WebImageCore
import WebImageHTTP

/// The file format of one entry. All numbers are little-endian.
///
///     0   8  magic 89 57 49 45 0D 0A 1A 0A (a text-mode transfer changes it)
///     8   4  version, 2 (files of version 1 may contain secrets, so they are deleted)
///     12  4  flags: 1 has a head, 2 has a probe, 4 has an attachment, 8 has tags, 16 has a time to live
///     16  4  size of the key in bytes
///     20  4  size of the head
///     24  4  size of the probe
///     28  4  size of the tags, the time to live, and the attachment
///     32  8  size of the payload
///     40  8  store date: seconds since 2001-01-01 UTC, IEEE 754 (as in `Date`, so the value isn't rounded)
///     48     key (UTF-8) | head | probe | tags | time to live (seconds, IEEE 754) | attachment | payload
///     end 8  XXH3-64 of all preceding bytes
///
/// A file is written under a temporary name, renamed when it's complete, and never changed afterward. A read returns
/// either exactly what was written or an ``EntryFileError``.
enum EntryFile {
    static let magic: UInt64 = 0x0A1A_0A0D_4549_5789
    static let version: UInt32 = 2
    static let headerBytes = 48
    static let trailerBytes = 8
    /// The maximum size in bytes of a section before the payload. Only corrupt files have larger values.
    static let sectionLimit = 16 << 20

    static func prefix(of entry: CacheEntry) -> [UInt8] {
        let head = entry.head?.encoded() ?? []
        let probe = entry.probe?.encoded() ?? []
        let tags = entry.tags.isEmpty ? [] : entry.tags.encoded()
        let lifetime = entry.lifetime.map { withUnsafeBytes(of: $0.bitPattern.littleEndian, [UInt8].init) } ?? []
        var writer = BinaryWriter()
        writer.put(magic)
        writer.put(version)
        writer.put(
            UInt32(entry.head == nil ? 0 : 1) | (entry.probe == nil ? 0 : 2) | (entry.userData == nil ? 0 : 4)
                | (entry.tags.isEmpty ? 0 : 8) | (lifetime.isEmpty ? 0 : 16))
        for count in [
            entry.key.canonical.utf8.count, head.count, probe.count,
            tags.count + lifetime.count + (entry.userData?.count ?? 0),
        ] {
            writer.put(UInt32(clamping: count))
        }
        writer.put(UInt64(entry.data.count))
        writer.put(entry.storedAt)
        writer.put(raw: entry.key.canonical.utf8)
        writer.put(raw: head)
        writer.put(raw: probe)
        writer.put(raw: tags)
        writer.put(raw: lifetime)
        if let attachment = entry.userData { writer.put(raw: attachment) }
        return writer.bytes
    }

    static func checksum(prefix: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer) -> UInt64? {
        // Hash the parts one after the other, because joining them would copy the payload.
        guard let state = XXH3_createState() else { return nil }
        defer { XXH3_freeState(state) }
        guard XXH3_64bits_reset(state) == XXH_OK,
            XXH3_64bits_update(state, prefix.baseAddress, prefix.count) == XXH_OK,
            payload.isEmpty || XXH3_64bits_update(state, payload.baseAddress, payload.count) == XXH_OK
        else { return nil }
        return XXH3_64bits_digest(state)
    }

    /// The payload isn't copied and retains the memory of `file`. If `key` is `nil`, the file can have any key.
    static func decode(_ file: consuming FileBytes, key: CacheKey?, verify: Bool) throws(EntryFileError) -> CacheEntry {
        let layout = try EntryLayout(file.bytes)
        guard layout.fileBytes == file.count else { throw .length }
        let bytes = file.bytes
        if verify {
            let whole = UnsafeRawBufferPointer(rebasing: bytes[..<(file.count - trailerBytes)])
            let stored = bytes.loadUnaligned(fromByteOffset: whole.count, as: UInt64.self)
            guard XXH3_64bits(whole.baseAddress, whole.count) == UInt64(littleEndian: stored) else {
                throw .checksum
            }
        }
        var entry = try decodeSections(bytes, layout, key: key)
        entry.data = file.data(in: layout.payload)
        return entry
    }

    static func decodeSections(
        _ bytes: UnsafeRawBufferPointer, _ layout: EntryLayout, key expected: CacheKey?
    ) throws(EntryFileError) -> CacheEntry {
        guard bytes.count >= layout.payload.lowerBound else { throw .length }
        func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[range]) }
        let key: CacheKey
        if let expected {
            guard expected.isStored(in: part(layout.key)) else { throw .otherKey }
            key = expected
        } else {
            guard let text = String(validating: part(layout.key), as: UTF8.self) else { throw .section("key") }
            key = CacheKey(canonical: text)
        }
        var entry = CacheEntry(key: key, data: Data(), storedAt: layout.stored)
        if layout.flags & 1 != 0 {
            guard let head = StoredResponseHead(encoded: part(layout.head)) else { throw .section("head") }
            entry.head = head
        }
        if layout.flags & 2 != 0 {
            guard let probe = ImageInfo(encoded: part(layout.probe)) else { throw .section("probe") }
            entry.probe = probe
        }
        try decodeOwn(part(layout.attachment), layout.flags, into: &entry)
        return entry
    }

    private static func decodeOwn(
        _ bytes: UnsafeRawBufferPointer, _ flags: UInt32, into entry: inout CacheEntry
    ) throws(EntryFileError) {
        var rest = bytes[...]
        if flags & 8 != 0 {
            guard let (tags, count) = Set<String>.decoded(bytes) else { throw .section("tags") }
            entry.tags = tags
            rest = rest.dropFirst(count)
        }
        if flags & 16 != 0 {
            guard rest.count >= 8 else { throw .section("time to live") }
            let bits = UnsafeRawBufferPointer(rebasing: rest.prefix(8)).loadUnaligned(as: UInt64.self)
            let seconds = Double(bitPattern: UInt64(littleEndian: bits))
            guard seconds >= 0, seconds <= CacheEntry.longestLifetime else { throw .section("time to live") }
            entry.timeToLive = .milliseconds(Int((seconds * 1_000).rounded()))
            rest = rest.dropFirst(8)
        }
        if flags & 4 != 0 { entry.userData = Data(rest) }
    }
}

extension CacheKey {
    /// Returns whether a section contains exactly the canonical bytes of this key.
    fileprivate func isStored(in bytes: UnsafeRawBufferPointer) -> Bool {
        var text = canonical
        return text.withUTF8 { text in
            guard text.count == bytes.count else { return false }
            guard let left = text.baseAddress, let right = bytes.baseAddress else { return true }
            return memcmp(left, right, text.count) == 0
        }
    }
}

enum EntryFileError: Error, Hashable {
    case magic
    case version(UInt32)
    case length
    case checksum
    case section(String)
    /// The file contains another key because two keys have the same name or a file was renamed.
    case otherKey
}

struct EntryLayout {
    let flags: UInt32
    let key: Range<Int>
    let head: Range<Int>
    let probe: Range<Int>
    let attachment: Range<Int>
    let payload: Range<Int>
    let stored: Date
    var fileBytes: Int { payload.upperBound + EntryFile.trailerBytes }

    /// Creates a layout from the first 48 bytes of a file without checking the bytes that follow.
    init(_ bytes: UnsafeRawBufferPointer) throws(EntryFileError) {
        var reader = BinaryReader(bytes)
        guard let magic = try? reader.number(UInt64.self), let version = try? reader.number(UInt32.self) else {
            throw .length
        }
        guard magic == EntryFile.magic else { throw .magic }
        guard version == EntryFile.version else { throw .version(version) }
        // Unknown flags stand for sections that this version can't locate.
        guard let flags = try? reader.number(UInt32.self), flags < 32 else { throw .length }
        var end = EntryFile.headerBytes
        func section() throws(EntryFileError) -> Range<Int> {
            guard let count = try? reader.number(UInt32.self), count <= EntryFile.sectionLimit else { throw .length }
            defer { end += Int(count) }
            return end..<(end + Int(count))
        }
        // Don't use an array, because every read of an entry would allocate it.
        let (key, head, probe, attachment) = (try section(), try section(), try section(), try section())
        guard let payload = try? reader.number(UInt64.self), payload < UInt64(Int32.max) * 1_024,
            let stored = try? reader.value(Date.self)
        else { throw .length }
        self.flags = flags
        self.key = key
        self.head = head
        self.probe = probe
        self.attachment = attachment
        self.payload = end..<(end + Int(payload))
        self.stored = stored
    }
}
