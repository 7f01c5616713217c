// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImageCore

/// The file format of an encrypted entry. All numbers are little-endian.
///
///     0   8  magic 89 57 49 53 0D 0A 1A 0A
///     8   4  version, 1
///     12  4  size of the sections in bytes
///     16  32 random salt of the file
///     48     sections: all bytes of an ``EntryFile`` before its payload, encrypted
///         16 tag of the sections
///            payload, encrypted
///     end 16 tag of the payload
///
/// Both parts are encrypted with AES-256-GCM. Their key is an HMAC of the salt, so it differs in every file, and the
/// nonces are constants. The associated data of the sections consists of the first 48 bytes and the file name, and that
/// of the payload is the first tag. A modified, truncated, renamed, or combined file is therefore never decrypted.
enum SealedEntryFile {
    static let magic: UInt64 = 0x0A1A_0A0D_5349_5789
    static let version: UInt32 = 1
    static let headerBytes = 48
    static let saltBytes = 32
    static let tagBytes = AuthenticatedEncryption.tagBytes
    static let sectionsLimit = EntryFile.headerBytes + 4 * EntryFile.sectionLimit
    /// The number of bytes that are encrypted at a time.
    static let step = 1 << 20

    static let sectionsNonce = [UInt8](repeating: 0, count: AuthenticatedEncryption.nonceBytes)
    static let payloadNonce = [1] + [UInt8](repeating: 0, count: AuthenticatedEncryption.nonceBytes - 1)

    static func header(sections: Int, salt: [UInt8]) -> [UInt8] {
        var writer = BinaryWriter()
        writer.put(magic)
        writer.put(version)
        writer.put(UInt32(clamping: sections))
        writer.put(raw: salt)
        return writer.bytes
    }
}

/// The first bytes of an encrypted file, which aren't encrypted.
struct SealedHeader {
    let bytes: [UInt8]
    let salt: [UInt8]
    let sections: Int
    var payloadStart: Int { SealedEntryFile.headerBytes + sections + SealedEntryFile.tagBytes }

    /// Creates a header from the first 48 bytes of a file.
    init(_ file: UnsafeRawBufferPointer) throws(EntryFileError) {
        var reader = BinaryReader(file)
        guard file.count >= SealedEntryFile.headerBytes, let magic = try? reader.number(UInt64.self),
            let version = try? reader.number(UInt32.self), let sections = try? reader.number(UInt32.self)
        else { throw .length }
        guard magic == SealedEntryFile.magic else { throw .magic }
        guard version == SealedEntryFile.version else { throw .version(version) }
        guard sections >= EntryFile.headerBytes, sections <= SealedEntryFile.sectionsLimit else { throw .length }
        self.sections = Int(sections)
        bytes = [UInt8](file.prefix(SealedEntryFile.headerBytes))
        salt = [UInt8](bytes.suffix(SealedEntryFile.saltBytes))
    }
}

extension CacheCipher {
    /// Writes to an empty file and returns its size in bytes. This method blocks. The payload is encrypted in steps, so
    /// a large one isn't copied as a whole.
    func write(
        sections: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer, name: String, to file: Int32,
        _ files: any FileSystem
    ) throws(SystemCallError) -> Int {
        refresh()
        let salt = KeyedHash.random(count: SealedEntryFile.saltBytes)
        let header = SealedEntryFile.header(sections: sections.count, salt: salt)
        guard sections.count <= SealedEntryFile.sectionsLimit else { throw SystemCallError("encryption", "", EFBIG) }
        guard let key = entryKey(salt: salt),
            let sealed = AuthenticatedEncryption.seal(
                sections, key: key, nonce: SealedEntryFile.sectionsNonce,
                associated: header + HexadecimalName.bytes(name)),
            let encryption = AuthenticatedEncryption(
                key: key, nonce: SealedEntryFile.payloadNonce,
                associated: [UInt8](sealed.suffix(SealedEntryFile.tagBytes)))
        else { throw SystemCallError("encryption", "", ENOMEM) }
        try files.writeAll(file, header + sealed)
        var buffer = [UInt8](repeating: 0, count: min(SealedEntryFile.step, payload.count))
        var rest = payload[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(SealedEntryFile.step))
            let succeeds = buffer.withUnsafeMutableBytes { encryption.encrypt(part, into: $0) }
            guard succeeds else { throw SystemCallError("encryption", "", ENOMEM) }
            try files.writeAll(file, buffer, count: part.count)
            rest = rest.dropFirst(part.count)
        }
        guard let tag = encryption.tag() else { throw SystemCallError("encryption", "", ENOMEM) }
        try files.writeAll(file, tag)
        return header.count + sealed.count + payload.count + tag.count
    }

    /// The payload is decrypted in place, and its memory becomes that of the entry. If `key` is `nil`, the file can
    /// have any key. If `mayBlock` is `true`, this method may read the salt again.
    func decode(
        _ file: consuming FileBytes, name: String, key: CacheKey?, mayBlock: Bool
    ) throws(EntryFileError) -> CacheEntry {
        let bytes = file.bytes
        let header = try SealedHeader(bytes)
        let end = bytes.count - SealedEntryFile.tagBytes
        guard end >= header.payloadStart else { throw .length }
        let opened = try openSections(bytes, header, name: name, mayBlock: mayBlock)
        let payload = header.payloadStart..<end
        let decoded = try Self.entry(opened.sections, key: key)
        guard decoded.payload == payload.count else { throw .length }
        let isAuthentic = AuthenticatedEncryption.open(
            UnsafeMutableRawBufferPointer(rebasing: file.mutableBytes[payload]),
            tag: UnsafeRawBufferPointer(rebasing: bytes[end...]), key: opened.key,
            nonce: SealedEntryFile.payloadNonce, associated: opened.tag)
        guard isAuthentic else { throw .checksum }
        var entry = decoded.entry
        entry.data = file.data(in: payload)
        return entry
    }

    /// The result is incomplete if decoding the sections requires more bytes of the file.
    func decodeSections(
        _ bytes: UnsafeRawBufferPointer, fileSize: Int, name: String
    ) throws(EntryFileError) -> SectionsResult {
        guard bytes.count >= SealedEntryFile.headerBytes else { throw .length }
        let header = try SealedHeader(bytes)
        guard fileSize >= header.payloadStart + SealedEntryFile.tagBytes else { throw .length }
        guard bytes.count >= header.payloadStart else { return .incomplete(required: header.payloadStart) }
        let opened = try openSections(bytes, header, name: name, mayBlock: true)
        let decoded = try Self.entry(opened.sections, key: nil)
        guard header.payloadStart + decoded.payload + SealedEntryFile.tagBytes == fileSize else { throw .length }
        return .entry(decoded.entry, payload: decoded.payload)
    }

    private typealias OpenedSections = (sections: [UInt8], tag: [UInt8], key: [UInt8])

    /// If another process replaced the salt, this method tries the new one.
    private func openSections(
        _ file: UnsafeRawBufferPointer, _ header: SealedHeader, name: String, mayBlock: Bool
    ) throws(EntryFileError) -> OpenedSections {
        let sealed = UnsafeRawBufferPointer(rebasing: file[SealedEntryFile.headerBytes..<header.payloadStart])
        let associated = header.bytes + HexadecimalName.bytes(name)
        func attempt() -> OpenedSections? {
            guard let key = entryKey(salt: header.salt),
                let sections = AuthenticatedEncryption.open(
                    sealed, key: key, nonce: SealedEntryFile.sectionsNonce, associated: associated)
            else { return nil }
            return (sections, [UInt8](sealed.suffix(SealedEntryFile.tagBytes)), key)
        }
        let used = contentSalt
        if let opened = attempt() { return opened }
        guard mayBlock else { throw .checksum }
        refresh()
        // Another thread may have already read the new salt.
        guard contentSalt != used, let opened = attempt() else { throw .checksum }
        return opened
    }

    private static func entry(
        _ sections: [UInt8], key: CacheKey?
    ) throws(EntryFileError) -> (entry: CacheEntry, payload: Int) {
        let result = sections.withUnsafeBytes { bytes -> Result<(entry: CacheEntry, payload: Int), EntryFileError> in
            do throws(EntryFileError) {
                let layout = try EntryLayout(bytes)
                guard layout.payload.lowerBound == bytes.count else { throw .length }
                return .success((try EntryFile.decodeSections(bytes, layout, key: key), layout.payload.count))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

enum SectionsResult {
    /// The entry without its payload, and the size of the payload in bytes.
    case entry(CacheEntry, payload: Int)
    case incomplete(required: Int)
}

extension FileSystem {
    fileprivate func writeAll(_ file: Int32, _ bytes: [UInt8], count: Int? = nil) throws(SystemCallError) {
        let result = bytes.withUnsafeBytes { bytes -> Result<Void, SystemCallError> in
            let part = UnsafeRawBufferPointer(rebasing: bytes.prefix(count ?? bytes.count))
            do throws(SystemCallError) { return .success(try writeAll(file, part)) } catch { return .failure(error) }
        }
        try result.get()
    }
}
