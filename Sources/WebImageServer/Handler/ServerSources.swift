// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// An image to load.
package struct ServerSource: Sendable, Hashable {
    /// The place of the image.
    package enum Kind: Sendable, Hashable {
        case web
        case local
        case s3
    }

    /// The URL to load, which is a `file` URL for local images.
    package var url: URL
    package var kind: Kind

    /// Creates a source.
    package init(url: URL, kind: Kind = .web) { (self.url, self.kind) = (url, kind) }
}

/// The sources that a server loads.
package struct ServerSources: Sendable, Hashable {
    /// The patterns of allowed URLs, or `nil` for all. `*` matches any text without `/`, `?`, `#`, `@`,
    /// and `\`.
    ///
    /// A URL must begin with text that matches a pattern, as written and after it was parsed.
    package var patterns: [String]?
    /// The directory of `local:` URLs, or `nil` if they aren't allowed.
    package var localDirectory: URL?
    /// The text before source URLs, or `nil` if they're complete.
    package var baseURL: String?
    /// The storage of `s3:` URLs, or `nil` if they aren't allowed.
    package var s3: S3Storage?

    /// Creates rules that allow all `http` and `https` URLs.
    package init() {}

    /// Creates the rules of a configuration.
    init(_ configuration: ImageServer.Configuration) {
        patterns = configuration.allowedSources
        localDirectory = configuration.localDirectory
        baseURL = configuration.baseURL
        s3 = configuration.s3
    }

    /// Returns the source to load.
    ///
    /// - Throws: A failure with the status code 404 if the URL isn't valid or isn't allowed.
    package func source(of text: String) throws(ServerFailure) -> ServerSource {
        var text = text
        if let baseURL, !text.hasPrefix(baseURL) { text = baseURL + text }
        if let patterns, !patterns.contains(where: { Self.matches(text, $0) }) {
            throw .notFound("The server doesn’t allow this source URL.")
        }
        if text.hasPrefix("s3://") {
            guard let s3 else { throw .notFound("The server has no S3-compatible storage.") }
            return ServerSource(url: try s3.url(of: text.dropFirst("s3://".count)), kind: .s3)
        }
        if text.hasPrefix("local://") { return try localURL(String(text.dropFirst("local://".count))) }
        guard let url = URLText.url(text), let scheme = url.scheme?.lowercased() else {
            throw .notFound("The source URL isn’t valid.")
        }
        guard ["http", "https"].contains(scheme), url.host()?.isEmpty == false else {
            throw .notFound("The scheme “\(scheme)” of the source URL isn’t supported.")
        }
        try checkParsed(text)
        return ServerSource(url: url, kind: .web)
    }

    /// Returns whether a redirect may be followed. `target` is the URL that is requested, so it's already parsed.
    func allowsRedirect(from source: URL, to target: URL) -> Bool {
        guard let patterns, s3?.contains(source) != true else { return true }
        let text = target.absoluteString
        let parsed = URLText.serialized(text) ?? text
        return patterns.contains { Self.matches(parsed, Self.encoded($0)) }
    }

    /// The parser removes dot segments, tabs, and surplus slashes, and changes backslashes to slashes. So text that
    /// matches a pattern can denote a URL with another path or, as in `https:///host/`, with another host.
    private func checkParsed(_ text: String) throws(ServerFailure) {
        guard let patterns, let parsed = URLText.serialized(text), parsed != text else { return }
        guard patterns.contains(where: { Self.matches(parsed, Self.encoded($0)) }) else {
            throw .notFound("The server doesn’t allow this source URL.")
        }
    }

    /// Returns a pattern whose path and query are percent-encoded as in parsed URLs.
    private static func encoded(_ pattern: String) -> String {
        guard let mark = pattern.range(of: "://") else { return pattern }
        let rest = pattern[mark.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let (scheme, path) = (pattern[..<mark.lowerBound].lowercased(), URLText.encodedPath(String(rest[end...])))
        return "\(scheme)://\(rest[..<end])\(path)"
    }

    private func localURL(_ path: String) throws(ServerFailure) -> ServerSource {
        guard let localDirectory else { throw .notFound("The server has no local directory.") }
        let path = path.prefix { $0 != "?" && $0 != "#" }
        let parts = path.split(separator: "/")
        // The path must not lead out of the directory.
        guard !parts.isEmpty, !parts.contains(where: { $0 == ".." || $0 == "." }), !path.utf8.contains(0) else {
            throw .notFound("The path of the local file isn’t valid.")
        }
        let url = localDirectory.appending(path: parts.joined(separator: "/"), directoryHint: .notDirectory)
        return ServerSource(url: url, kind: .local)
    }

    /// The bytes that end the host of a URL or precede it. With one of them, text such as `https://b.example?.a.example/`
    /// would match a pattern for the hosts below `a.example`.
    private static let delimiters = Set("/?#@\\".utf8)

    static func matches(_ text: String, _ pattern: String) -> Bool {
        // The positions in the text up to which the pattern so far can match.
        let bytes = Array(text.utf8)
        var ends: Set<Int> = [0]
        for byte in pattern.utf8 {
            var next: Set<Int> = []
            for end in ends {
                if byte == UInt8(ascii: "*") {
                    next.insert(end)
                    var index = end
                    while index < bytes.count, !delimiters.contains(bytes[index]) {
                        index += 1
                        next.insert(index)
                    }
                } else if end < bytes.count, bytes[end] == byte {
                    next.insert(end + 1)
                }
            }
            ends = next
            guard !ends.isEmpty else { return false }
        }
        return true
    }
}
