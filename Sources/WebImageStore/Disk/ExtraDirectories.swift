// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// Read-only directories of entry files that are shipped with an app or come from another cache.
///
/// The contents of the directories are trusted, but their structure isn't, so symbolic links in them aren't followed.
final class ExtraDirectories: Sendable {
    private let layouts: [CacheLayout]
    private let files: any FileSystem
    /// The prefixes of all file names, or `nil` until they're loaded.
    private let known = Lock<Set<Int>?>(nil)

    var isEmpty: Bool { layouts.isEmpty }

    init(_ directories: [String], files: any FileSystem) {
        layouts = directories.filter { $0.hasPrefix("/") && !$0.utf8.contains(0) }.map { CacheLayout(root: $0) }
        self.files = files
    }

    /// Loads the names of all entries. Call this method once. It blocks.
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

    /// The result is `false` only if certainly no directory contains an entry with this name. This method performs no
    /// I/O.
    func mayContain(_ name: String) -> Bool {
        guard !isEmpty else { return false }
        return known.withLock { $0?.contains(CacheIndex.tag(name)) ?? true }
    }

    /// Returns the first intact entry of a key in the directories. This method blocks.
    func entry(for key: CacheKey, limit: Int) -> CacheEntry? {
        let name = key.fileName
        guard mayContain(name) else { return nil }
        for layout in layouts {
            let path = layout.entry(name).dropFirst(layout.root.utf8.count + 1)
            guard let file = try? files.open(String(path), beneath: layout.root) else { continue }
            defer { files.close(file) }
            guard let contents = try? files.contents(of: file, path: String(path), limit: limit) else { continue }
            if let entry = try? EntryFile.decode(contents.consumeBytes(), key: key, verify: true) { return entry }
        }
        return nil
    }
}
