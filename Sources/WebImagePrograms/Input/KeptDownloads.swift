// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageStore

/// The resume data that a command adds to the directory of a disk cache.
package struct KeptDownloads: Sendable {
    /// The identity of a file, which changes if the file is replaced.
    private struct Version: Sendable, Hashable {
        let number: UInt64
        let seconds: Int
        let nanoseconds: Int
    }

    private let directory: String
    private let earlier: [String: Version]

    /// Creates a list of the existing resume data in the cache directory at `path`. Blocks.
    package init(cache path: String) {
        directory = "\(path)/partial"
        earlier = Self.files(in: directory)
    }

    /// The number of partial downloads that were stored since this value was created. Blocks.
    package var count: Int { Self.files(in: directory).filter { earlier[$0.key] != $0.value }.count }

    private static func files(in directory: String) -> [String: Version] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        var files: [String: Version] = [:]
        for name in names where name.hasSuffix(".part") {
            var status = stat()
            guard stat("\(directory)/\(name)", &status) == 0 else { continue }
            let time = status.st_mtim
            files[name] = Version(number: UInt64(status.st_ino), seconds: time.tv_sec, nanoseconds: time.tv_nsec)
        }
        return files
    }
}

/// The message for an interrupted command.
package struct InterruptionMessage: Sendable {
    /// The sentence that reports the finished work, such as “1 of 2 images was loaded.”
    private let finished: String
    /// Whether downloads can be unfinished.
    private let hasDownloads: Bool

    /// Creates a message. `done` is the past participle for finished images, such as `loaded`.
    package init(_ count: Int, of inputs: [ImageInput], _ done: String) {
        if inputs.count == 1 {
            self.init("The image \(count == 1 ? "was" : "wasn’t") \(done).", count < 1 ? inputs : [])
        } else {
            self.init(
                "\(count) of \(inputs.count) images \(count == 1 ? "was" : "were") \(done).",
                count < inputs.count ? inputs : [])
        }
    }

    /// Creates a message from a sentence. `unfinished` are the inputs that may be unfinished.
    package init(_ finished: String, _ unfinished: [ImageInput]) {
        self.finished = finished
        hasDownloads = unfinished.contains(where: \.isDownload)
    }

    /// Returns the text with the number of stored partial downloads.
    package func text(kept count: Int) -> String {
        var text = "Interrupted. \(finished)"
        if count > 0 {
            text += " \(NumberFormatting.count(count, "partial download")) \(count == 1 ? "is" : "are") kept and will "
            text += "be resumed."
        } else if hasDownloads {
            text += " Unfinished downloads begin again."
        }
        return text + "\n"
    }
}

extension ImageInput {
    /// Whether the input is downloaded.
    package var isDownload: Bool { ["http", "https"].contains((try? url)?.scheme?.lowercased() ?? "") }
}

/// A namespace for checking whether a disk cache stored the images of a command.
package enum CacheLosses {
    /// Returns the reason why a cache didn't store images, or `nil` if it stored them. Waits for pending writes, so
    /// call this method before the cache is closed.
    package static func message(_ cache: DiskCache, _ configuration: DiskCache.Configuration) async -> String? {
        let info = await cache.info()
        let count = info.counters.dropped
        guard count > 0 || info.suspensionReason != nil else { return nil }
        let path = info.directory.path(percentEncoded: false)
        let images = count == 0 ? "Images" : NumberFormatting.count(count, "image")
        let verb = count == 1 ? "wasn’t" : "weren’t"
        let reason = info.suspensionReason ?? (isFull(path, configuration.minimumFreeFraction) ? diskFull : tooLarge)
        return "\(images) \(verb) stored in the disk cache \(path): \(reason)"
    }

    private static let diskFull = "the disk is full (\(String(cString: strerror(ENOSPC))))"
    private static let tooLarge = "the data is too large for the cache, or the disk is too slow"

    private static func isFull(_ path: String, _ fraction: Double) -> Bool {
        var facts = statvfs()
        guard statvfs(path, &facts) == 0 else { return false }
        return Double(facts.f_bavail) <= max(Double(facts.f_blocks) * fraction, 0)
    }
}
