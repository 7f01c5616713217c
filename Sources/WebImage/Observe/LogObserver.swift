// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImageCore

/// An observer that logs the work of a manager as lines of text.
///
/// A manager logs nothing unless ``ImageManager/Configuration/observers`` contains a log observer.
public struct LogObserver: ImageManagerObserver {
    /// The verbosity of the log.
    public enum Level: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// Logs failed requests.
        case error
        /// Logs the end of every request.
        case info
        /// Logs the beginning and the end of every stage.
        case debug

        /// Returns whether the left level logs less than the right level.
        public static func < (lhs: Level, rhs: Level) -> Bool { lhs.rawValue < rhs.rawValue }
    }

    private let level: Level
    private let showsSecrets: Bool
    private let write: @Sendable (Level, String) -> Void

    /// Creates a log observer.
    ///
    /// - Parameters:
    ///   - level: The verbosity. The default is ``Level/info``.
    ///   - includesSecrets: A Boolean value that indicates whether to log queries and credentials of URLs. The default
    ///     is `false`.
    ///   - write: A closure that receives each line without its line terminator, on the thread of the event. The
    ///     default is `nil`, which means that the observer writes the line to standard error.
    public init(
        level: Level = .info, includesSecrets: Bool = false,
        write: (@Sendable (Level, String) -> Void)? = nil
    ) {
        self.level = level
        self.showsSecrets = includesSecrets
        if let write {
            self.write = write
        } else {
            self.write = { _, line in LogObserver.writeToStandardError(line) }
        }
    }

    /// Logs an event if the level includes it.
    public func observe(_ event: ImageManager.Event) {
        let level = Self.level(of: event)
        guard level <= self.level else { return }
        write(level, line(event))
    }

    /// Writes a line to standard error with a single `write` call so that lines of different threads don't mix.
    package static func writeToStandardError(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }

    private static func level(of event: ImageManager.Event) -> Level {
        guard event.stage == .request, event.phase == .ended else { return .debug }
        return event.error.map { $0 == .cancelled ? .info : .error } ?? .info
    }

    private func line(_ event: ImageManager.Event) -> String {
        var words = ["webimage", "#\(event.requestID)", event.stage.rawValue, event.phase.rawValue]
        if !event.details.isEmpty { words.append(event.details) }
        if let origin = event.source { words.append("from \(origin.rawValue)") }
        if let size = event.imageSize { words.append("\(size.width)x\(size.height)") }
        if let bytes = event.byteCount { words.append("\(bytes) bytes") }
        if let duration = event.duration {
            words.append("\(Int(saturating: (duration / .microseconds(1)).rounded())) µs")
        }
        words.append(event.url.absoluteString)
        if let error = event.error { words.append("failed: \(error)") }
        let line = words.joined(separator: " ")
        return showsSecrets ? line : Redaction.text(line)
    }
}
