// SPDX-License-Identifier: MIT

import Foundation
import WebImageCommand

/// The files that match a pattern with the component `**`, as with the option globstar of bash.
///
/// `**` stands for a directory and all of its subdirectories. Hidden directories are omitted, and symbolic links to
/// directories aren't followed. At the end of a pattern, `**` stands for the files in these directories. Directories that
/// match a pattern are omitted, because a command would add their images a second time.
struct RecursivePattern {
    /// The paths of the files, sorted by name.
    private(set) var paths: [String] = []
    /// Whether there are further files or directories.
    private(set) var isIncomplete = false

    private let limit: Int
    private var found: Set<String> = []
    private var directoryCount = 0

    /// Finds at most `limit` files, in at most as many directories. Returns `nil` if the pattern has no component `**`.
    /// Blocks.
    init?(_ pattern: String, limit: Int) {
        guard Self.components(pattern).contains("**") else { return nil }
        self.limit = limit
        expand(pattern)
        paths = found.sorted()
    }

    private static func components(_ pattern: String) -> [Substring] {
        pattern.split(separator: "/", omittingEmptySubsequences: false)
    }

    private mutating func expand(_ pattern: String) {
        let components = Self.components(pattern)
        guard let stars = components.firstIndex(of: "**") else {
            for path in Inputs.matches(of: pattern) where !Files.isDirectory(path) { add(path) }
            return
        }
        let start = components[..<stars].joined(separator: "/")
        // Several of them in a row have the same meaning as one.
        let rest = components[stars...].drop { $0 == "**" }.joined(separator: "/")
        // An empty path before a slash is the root directory.
        let bases = start.isEmpty ? [start] : Inputs.matches(of: start).filter(Files.isDirectory)
        for base in bases { walk(stars == 0 ? "" : "\(base)/", rest) }
    }

    /// Matches the rest of a pattern in a directory and in its subdirectories. The path is empty or ends with a slash.
    private mutating func walk(_ directory: String, _ rest: String) {
        directoryCount += 1
        guard !isIncomplete, directoryCount <= limit else {
            isIncomplete = true
            return
        }
        guard let entries = DirectoryEntries(directory.isEmpty ? "." : directory) else { return }
        if rest.isEmpty {
            for name in entries.files { add(directory + name) }
        } else {
            expand(Self.escaped(directory) + rest)
        }
        for name in entries.directories { walk("\(directory)\(name)/", rest) }
    }

    private mutating func add(_ path: String) {
        if found.count < limit { found.insert(path) } else { isIncomplete = isIncomplete || !found.contains(path) }
    }

    /// Returns a pattern that matches only a path.
    private static func escaped(_ path: String) -> String {
        path.map { "*?[]\\~".contains($0) ? "\\\($0)" : String($0) }.joined()
    }
}

/// The names in a directory, except for hidden ones.
private struct DirectoryEntries {
    /// The names of files, and of symbolic links that don't lead to directories.
    private(set) var files: [String] = []
    /// The names of subdirectories, without symbolic links.
    private(set) var directories: [String] = []

    /// Reads a directory. Returns `nil` if it can't be read.
    init?(_ path: String) {
        guard let stream = opendir(FileNameText.cString(path)) else { return nil }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            // The memory of the structure ends after the name, so not all of the declared bytes exist.
            let start = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let bytes = UnsafeRawPointer(entry).advanced(by: start).assumingMemoryBound(to: CChar.self)
            if bytes.pointee == CChar(bitPattern: UInt8(ascii: ".")) { continue }
            let name = FileNameText.text(of: bytes)
            if !Files.isDirectory("\(path)/\(name)") {
                files.append(name)
            } else if !Files.isLink("\(path)/\(name)") {
                directories.append(name)
            }
        }
    }
}
