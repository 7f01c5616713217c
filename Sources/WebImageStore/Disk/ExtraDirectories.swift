// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// Folders of entry files that came with the application or from another cache. They are read and nothing else. Whoever
/// owns them is trusted with what they hold, not with where it lies: no link in them is followed.
final class ExtraDirectories: Sendable {
    private let layouts: [CacheLayout]
    private let files: any FileSystem
    /// The beginnings of all names; nil until they have been read.
    private let known = Lock<Set<Int>?>(nil)

    var isEmpty: Bool { layouts.isEmpty }

    init(_ directories: [String], files: any FileSystem) {
        layouts = directories.filter { $0.hasPrefix("/") && !$0.utf8.contains(0) }.map { CacheLayout(root: $0) }
        self.files = files
    }

    /// Reads which names there are, once. Blocks.
    func load() {
        guard !isEmpty else { return }
        var found: Set<Int> = []
        for layout in layouts {
            for shard in 0..<256 {
                let folder = layout.shard(shard)
                guard (try? files.status(at: folder))?.kind == .directory else { continue }
                for name in (try? files.names(in: folder)) ?? [] where CacheLayout.isEntryName(name) {
                    found.insert(CacheIndex.tag(name))
                }
            }
        }
        known.withLock { $0 = found }
    }

    /// False when there is certainly no entry called `name`. Costs no I/O.
    func mayContain(_ name: String) -> Bool {
        guard !isEmpty else { return false }
        return known.withLock { $0?.contains(CacheIndex.tag(name)) ?? true }
    }

    /// The whole entry of `key` in the first folder that has one. Blocks.
    func entry(for key: CacheKey, limit: Int) -> DiskEntry? {
        let name = key.fileName
        guard mayContain(name) else { return nil }
        for layout in layouts {
            let path = layout.entry(name).dropFirst(layout.root.utf8.count + 1)
            guard let file = try? files.open(String(path), beneath: layout.root) else { continue }
            defer { files.close(file) }
            guard let contents = try? files.contents(of: file, path: String(path), limit: limit) else { continue }
            if let entry = try? EntryFile.decode(contents.takeBytes(), key: key, verify: true) { return entry }
        }
        return nil
    }
}
