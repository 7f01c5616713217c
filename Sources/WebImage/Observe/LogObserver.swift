// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImageCore

/// Writes what a manager does as lines of text. Nothing is logged unless one is in
/// ``ImageManagerConfiguration/observers``.
public struct LogObserver: ImageEventsObserver {
    /// How much is written.
    public enum Level: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// Requests that failed.
        case error
        /// Every request, when it is over.
        case info
        /// The beginning and the end of every stage.
        case debug

        /// By how much is written.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    private let level: Level
    private let showsSecrets: Bool
    private let write: @Sendable (Level, String) -> Void

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - level: what is written; default ``Level/info``.
    ///   - showsSecrets: whether queries and credentials of URLs are written too. Default false.
    ///   - write: takes each line, without its end, on the thread where it happened. Default standard error.
    public init(
        level: Level = .info, showsSecrets: Bool = false,
        write: @escaping @Sendable (Level, String) -> Void = { LogObserver.writeToStandardError($1) }
    ) {
        self.level = level
        self.showsSecrets = showsSecrets
        self.write = write
    }

    /// Writes a line where the level asks for it.
    public func observe(_ event: StageEvent) {
        let level = Self.level(of: event)
        guard level <= self.level else { return }
        write(level, line(event))
    }

    /// One `write` for each line, so that lines of several threads do not mix.
    public static func writeToStandardError(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }

    private static func level(of event: StageEvent) -> Level {
        guard event.stage == .request, event.phase == .ended else { return .debug }
        return event.error.map { $0.isCancelled ? .info : .error } ?? .info
    }

    private func line(_ event: StageEvent) -> String {
        var words = ["webimage", "#\(event.request)", event.stage.rawValue, event.phase.rawValue]
        if !event.detail.isEmpty { words.append(event.detail) }
        if let origin = event.origin { words.append("from \(origin.rawValue)") }
        if let size = event.size { words.append("\(size.width)x\(size.height)") }
        if let bytes = event.bytes { words.append("\(bytes) bytes") }
        if let seconds = event.seconds { words.append("\(Int(saturating: (seconds * 1e6).rounded())) µs") }
        words.append(event.url.absoluteString)
        if let error = event.error { words.append("failed \(error.code): \(error)") }
        let line = words.joined(separator: " ")
        return showsSecrets ? line : Redaction.text(line)
    }
}
