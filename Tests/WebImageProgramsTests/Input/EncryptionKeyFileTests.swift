// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImage
import WebImagePrograms

@Suite("Files with an encryption key")
final class EncryptionKeyFileTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "webimage-key-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ data: Data, mode: Int = 0o600) throws -> String {
        let path = folder.appending(path: "key").path
        try data.write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private let bytes = Data((0..<32).map { UInt8($0 * 8) })

    @Test("A key is 32 bytes or 64 hexadecimal digits with an optional line break")
    func forms() throws {
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let texts = [digits, digits + "\n", digits.uppercased() + "\r\n"].map { Data($0.utf8) }
        for data in [bytes] + texts {
            #expect(try EncryptionKeyFile.key(at: try path(data)).data == bytes)
        }
    }

    @Test("Other data isn't a key", arguments: [0, 31, 33, 63, 65, 66, 67, 100_000])
    func otherData(_ count: Int) throws {
        let path = try path(Data(repeating: UInt8(ascii: "a"), count: count))
        let reason = "\(path) has \(count) bytes, but 32 bytes or 64 hexadecimal digits are required"
        #expect(throws: ImageError.cache(.invalidEncryptionKey(reason: reason))) {
            try EncryptionKeyFile.key(at: path)
        }
    }

    @Test("A file that other users can access is rejected", arguments: [0o604, 0o640, 0o620, 0o601, 0o644])
    func modes(_ mode: Int) throws {
        let path = try path(bytes, mode: mode)
        let reason = "other users can access \(path) (mode 0\(String(mode, radix: 8)), but 0600 is required)"
        #expect(throws: ImageError.cache(.invalidEncryptionKey(reason: reason))) {
            try EncryptionKeyFile.key(at: path)
        }
    }

    @Test("A missing file, a directory, and a pipe are rejected")
    func kinds() throws {
        let missing = folder.appending(path: "missing").path
        #expect(throws: ImageError.request(.fileNotFound(path: missing))) { try EncryptionKeyFile.key(at: missing) }
        #expect(throws: ImageError.request(.fileUnreadable(path: folder.path, errno: EINVAL))) {
            try EncryptionKeyFile.key(at: folder.path)
        }
        let pipe = folder.appending(path: "pipe").path
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(throws: ImageError.request(.fileUnreadable(path: pipe, errno: EINVAL))) {
            try EncryptionKeyFile.key(at: pipe)
        }
    }
}
