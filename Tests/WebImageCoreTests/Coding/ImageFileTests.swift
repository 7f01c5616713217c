// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing

@testable import WebImageCore

@Suite("Files of images", .timeLimit(.minutes(1)))
struct ImageFileTests {
    private let path = FileManager.default.temporaryDirectory.path + "/webimage-image-file-\(UUID())"

    private func failure(_ opened: () -> Void = {}) -> ImageError? {
        do throws(ImageError) {
            _ = try ImageFile.contents(of: path, limit: 1_000, opened: opened)
            return nil
        } catch {
            return error
        }
    }

    @Test("A file whose size changes while it's read throws an error that says so", arguments: [0, 99, 101, 5_000])
    func changedSize(_ size: Int) throws {
        try Data(repeating: 7, count: 100).write(to: URL(filePath: path))
        defer { unlink(path) }
        #expect(try ImageFile.contents(of: path, limit: 100) == Data(repeating: 7, count: 100))
        let error = failure { truncate(path, off_t(size)) }
        #expect(error == .request(.fileUnreadable(path: path, errno: ESTALE)))
        #expect(error?.message == "The file \(path) can't be read: Its size changed while it was read.")
    }

    @Test("A named pipe without a writer is rejected without waiting")
    func pipe() {
        #expect(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        #expect(failure()?.message == "The file \(path) can't be read: It isn't a regular file.")
    }
}
