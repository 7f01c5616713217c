// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import WebImageCore

@testable import WebImageStore

/// The targets of whole cache directories with an index, an entry file, or a manifest that the input chooses.
///
/// Each run opens a cache, so they're slower than the others.
enum Directories {
    static let targets = [
        FuzzTarget("index", maxLength: 64 << 10, seeds: { [template.index] }, run: index),
        FuzzTarget("entry-recovery", maxLength: 2_048, seeds: { [template.file] }, run: recovery),
        FuzzTarget(
            "manifest", maxLength: 2_048,
            seeds: {
                let entry = ExportManifest.Entry(
                    file: "image", key: key(9).canonical, digest: ContentDigest(of: image).text,
                    stored: 1_700_000_000, tags: ["t"], lifetime: 60)
                return (try? [JSONEncoder().encode(ExportManifest(entries: [entry]))]) ?? []
            },
            dictionary: [
                "\"entries\":", "\"file\":", "\"digest\":", "\"stored\":", "\"lifetime\":", "\"tags\":",
                "\"attachment\":", "\"head\":", "../", "1e999",
            ], run: manifest),
    ]

    private static let count = 3
    /// A BMP file of one pixel.
    private static let image = Data(
        [66, 77, 58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24, 0, 0, 0, 0, 0, 4]
            + [UInt8](repeating: 0, count: 19) + [1, 2, 3, 0])

    private static func key(_ number: Int) -> CacheKey { CacheKey(["data", "https://a.example/\(number)"]) }

    private static func entry(_ number: Int) -> CacheEntry {
        CacheEntry(key: key(number), data: Data(repeating: UInt8(number), count: 50 + number), tags: ["t"])
    }

    /// The directory of each run, in memory if possible, because a run writes only a few files.
    private static let root: String = {
        let memory = "/dev/shm"
        let parent = access(memory, W_OK) == 0 ? memory : NSTemporaryDirectory()
        let path = "\(parent)/webimage-fuzz-\(getpid())"
        atexit { try? FileManager.default.removeItem(atPath: Directories.root) }
        return path
    }()

    /// The files of a cache with ``count`` entries.
    private static let template: (index: Data, file: Data, files: [(name: String, bytes: Data)]) = {
        run { cache in
            for number in 0..<count { cache.store(entry(number)) }
            await cache.flush()
        }
        let layout = CacheLayout(root: root)
        func read(_ path: String) -> Data { FileManager.default.contents(atPath: path) ?? Data() }
        let files = (0..<count).map { number in
            let name = key(number).fileName
            return (name: name, bytes: read(layout.entry(name)))
        }
        require(files.allSatisfy { !$0.bytes.isEmpty }, "The cache at \(root) can’t be written.")
        return (index: read(layout.index), file: files[0].bytes, files: files)
    }()

    /// Opens the cache and closes it after the body.
    private static func run(_ body: @escaping @Sendable (DiskCache) async -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task {
            if let cache = try? DiskCache(configuration: DiskCache.Configuration(path: root, minimumFreeFraction: 0)) {
                await body(cache)
                await cache.close()
            }
            done.signal()
        }
        done.wait()
    }

    private static func write(_ data: Data, to path: String) {
        require(FileManager.default.createFile(atPath: path, contents: data), "\(path) can’t be written.")
    }

    /// Creates the directory with the index, or without an index if it's `nil`.
    private static func prepare(index: Data?) {
        let files = FileManager.default
        let template = template
        let layout = CacheLayout(root: root)
        try? files.removeItem(atPath: root)
        for file in template.files {
            let path = layout.entry(file.name)
            let directory = String(path.dropLast(file.name.utf8.count + 1))
            try? files.createDirectory(atPath: directory, withIntermediateDirectories: true)
            write(file.bytes, to: path)
        }
        if let index { write(index, to: layout.index) }
        // The cache rejects a directory that other users can write to.
        chmod(root, 0o700)
    }

    /// Opens a cache whose index is the input. The cache must never return wrong data, and it must remain usable.
    private static func index(_ bytes: UnsafeRawBufferPointer) {
        prepare(index: Data(bytes))
        run { cache in
            for number in 0..<count {
                let data = await cache.entry(for: key(number))?.data
                require(data == nil || data == entry(number).data, "The cache returns other data.")
            }
            _ = await cache.entries()
            _ = await cache.info()
            await cache.trim(toCount: 2)
            let report = await cache.verify()
            require(report.corruptCount == 0, "The cache deletes valid entries as corrupt ones.")
            await cache.remove(tag: "t")
        }
        run { cache in
            cache.store(entry(7))
            require(await cache.entry(for: key(7))?.data == entry(7).data, "A new entry is missing.")
            await cache.flush()
        }
    }

    /// Opens a cache without an index that has one more file, whose name is that of its key if it has one.
    private static func recovery(_ bytes: UnsafeRawBufferPointer) {
        prepare(index: nil)
        let data = Data(bytes)
        let name = (try? CacheEntry(serialized: data))?.key.fileName ?? key(5).fileName
        let path = CacheLayout(root: root).entry(name)
        try? FileManager.default.createDirectory(
            atPath: String(path.dropLast(65)), withIntermediateDirectories: true)
        write(data, to: path)
        run { cache in
            let report = await cache.verify()
            require(report.entryCount >= count, "A file prevents the recovery of others.")
            for number in 1..<count {
                require(await cache.entry(for: key(number))?.data == entry(number).data, "A recovered entry changes.")
            }
            for info in await cache.entries() { _ = info.isFrom(host: "a.example") }
        }
    }

    private static func manifest(_ bytes: UnsafeRawBufferPointer) {
        // Most inputs aren't JSON, so don't open a cache for them.
        guard (try? JSONDecoder().decode(ExportManifest.self, from: Data(bytes))) != nil else { return }
        prepare(index: nil)
        let folder = root + "/import"
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        write(image, to: folder + "/image")
        write(Data(bytes), to: folder + "/manifest.json")
        run { cache in
            _ = try? await cache.importImages(from: folder)
            for number in 0..<count {
                let data = await cache.entry(for: key(number))?.data
                require(data == entry(number).data || data == image, "An import changes another entry.")
            }
            require(await cache.verify().corruptCount == 0, "An import stores an invalid entry.")
        }
    }
}
