// SPDX-License-Identifier: MIT

import Foundation
import WebImageCommand

/// The images in a directory.
struct DirectoryContents {
    /// The paths of the images relative to the directory, in the order of the file system.
    private(set) var names: [String] = []
    private let path: String
    private let isRecursive: Bool
    private let limit: Int

    /// Reads a directory up to `limit` images. Hidden files and directories, and subdirectories that can't be read, are
    /// omitted, and symbolic links to directories aren't followed. Returns `nil` if the directory can't be read. The
    /// reason is in `errno`. Blocks.
    init?(_ path: String, isRecursive: Bool, limit: Int) {
        self.path = path
        self.isRecursive = isRecursive
        self.limit = limit
        guard read("") else { return nil }
    }

    /// Adds the images in a subdirectory, whose path is empty or ends with a slash. Returns `false` if it can't be read.
    private mutating func read(_ directory: String) -> Bool {
        guard let stream = opendir(FileNameText.cString("\(path)/\(directory)")) else { return false }
        defer { closedir(stream) }
        while names.count < limit, let entry = readdir(stream) {
            // The memory of the structure ends after the name, so not all of the declared bytes exist.
            let start = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let bytes = UnsafeRawPointer(entry).advanced(by: start).assumingMemoryBound(to: CChar.self)
            let name = directory + FileNameText.text(of: bytes)
            if bytes.pointee == CChar(bitPattern: UInt8(ascii: ".")) { continue }
            if Files.isDirectory("\(path)/\(name)") {
                if isRecursive, !Files.isLink("\(path)/\(name)") { _ = read("\(name)/") }
            } else if Inputs.hasImageExtension(name) {
                names.append(name)
            }
        }
        return true
    }
}
