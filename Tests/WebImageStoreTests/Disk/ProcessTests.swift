// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing
import WebImageTestSupport

@testable import WebImageStore

/// The number of rounds of the tests that kill processes. To run more, set WEBIMAGE_SOAK_ROUNDS.
private let rounds = ProcessInfo.processInfo.environment["WEBIMAGE_SOAK_ROUNDS"].flatMap(Int.init) ?? 40

@Suite("Disk cache and processes")
struct ProcessTests {
    @Test("OpenSSL can be used while the process exits, because other threads still run then")
    func exit() throws {
        let output = Pipe()
        let process = try HelperProcess.start(["exit"], output: output.fileHandleForWriting.fileDescriptor)
        try output.fileHandleForWriting.close()
        let lines = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(process.wait() == 0)
        #expect(lines == "true\ntrue\n")
    }

    @Test("A writer killed at any moment loses only unflushed entries and leaves only complete entries")
    func kill() async throws {
        var random = SeededGenerator(seed: 7)
        for round in 0..<rounds {
            let folder = TestDirectory()
            let output = Pipe()
            let process = try HelperProcess.start(
                ["write", folder.path, "\(round)"], output: output.fileHandleForWriting.fileDescriptor)
            try output.fileHandleForWriting.close()
            // Kill the process after a random number of bytes of progress plus a random delay in microseconds.
            var progress = Data()
            let wanted = Int.random(in: 1...40, using: &random)
            while progress.count < wanted { progress += output.fileHandleForReading.availableData }
            // The delay moves the end into the middle of a write, of which the process reports nothing.
            usleep(UInt32.random(in: 0...20_000, using: &random))
            process.send(SIGKILL)
            progress += output.fileHandleForReading.readDataToEndOfFile()
            _ = process.wait()
            let flushed =
                String(decoding: progress, as: UTF8.self).split(separator: "\n").compactMap { Int($0) }.last ?? 0

            let cache = try folder.open(sizeLimit: 1 << 30)
            for number in 0..<flushed {
                let entry = await cache.entry(for: HelperProcess.key(number))
                #expect(entry.map { HelperProcess.isWhole($0, number) } == true, "entry \(number) of round \(round)")
            }
            let listed = await cache.entries()
            let files = try entryFiles(folder)
            #expect(Set(listed.map { $0.key.fileName }) == Set(files))
            #expect(await cache.info().counters.corrupt == 0)
            let report = await cache.verify()
            #expect(report.entryCount == files.count && report.corruptCount == 0 && report.missingCount == 0)
            await cache.close()
        }
    }

    @Test(
        "Concurrent processes in one directory return no wrong data and enforce the limit", arguments: [2, 4],
        [false, true])
    func together(count: Int, isEncrypted: Bool) async throws {
        let folder = TestDirectory(onDisk: true)
        let limit = 2_000_000
        let processes = try (0..<count).map {
            try HelperProcess.start(
                ["churn", folder.path, "\($0 + 1)", "1500", "\(limit)"]
                    + (isEncrypted ? [HelperProcess.keyArgument] : []))
        }
        for process in processes { #expect(process.wait() == 0) }
        let cache = try folder.open(sizeLimit: limit, key: try testKey(isEncrypted))
        let report = await cache.verify()
        // An encrypted entry can't be read if another process removed all entries while it was written.
        #expect(isEncrypted || report.corruptCount == 0)
        await cache.trim(toSize: limit)
        let listed = await cache.entries()
        let files = try entryFiles(in: cache.state.layout.root)
        #expect(Set(listed.map { cache.state.name(of: $0.key) }) == Set(files))
        let info = await cache.info()
        #expect(info.size <= limit)
        #expect(info.size == listed.reduce(0) { $0 + $1.diskSize })
        await cache.close()
    }
}

/// Returns the names of the entry files in `folder`.
func entryFiles(_ folder: TestDirectory) throws -> [String] { try entryFiles(in: folder.path) }

/// Returns the names of the entry files of the cache at `path`.
func entryFiles(in path: String) throws -> [String] {
    let blobs = path + "/blobs"
    return try FileManager.default.contentsOfDirectory(atPath: blobs).flatMap {
        try FileManager.default.contentsOfDirectory(atPath: "\(blobs)/\($0)")
    }
}
