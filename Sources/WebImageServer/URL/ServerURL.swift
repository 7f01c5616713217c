// SPDX-License-Identifier: MIT

import Foundation

/// The parts of a path in imgproxy's grammar: `/SIGNATURE/OPTIONS/plain/URL@FORMAT` or `/SIGNATURE/OPTIONS/BASE64.FORMAT`.
package struct ServerURL: Sendable, Hashable {
    /// One processing option, such as `rs:fill:300:200`.
    package struct Option: Sendable, Hashable {
        /// The text before the first colon.
        package var name: String
        /// The texts between the other colons. There's at least one, which can be empty.
        package var arguments: [String]

        /// Creates an option.
        package init(_ name: String, _ arguments: [String]) {
            self.name = name
            self.arguments = arguments
        }
    }

    /// The maximum size of a path in bytes.
    package static let sizeLimit = 16_384

    /// The signature, which isn't checked.
    package var signature: String
    /// The part of the path that the signature covers.
    package var signedPath: String
    /// The options in the order of the path.
    package var options: [Option]
    /// The URL of the image, which isn't checked.
    package var source: String
    /// The name of the format after the URL, or `nil` if there is none.
    package var format: String?

    /// Parses a path without the query.
    ///
    /// - Parameters:
    ///   - path: The path, which begins with a slash.
    ///   - allowsOnlyPresets: Whether the part after the signature contains the names of presets, such as
    ///     `thumb:blurry`. The option `pr:thumb:blurry` has the same meaning. The default is `false`.
    /// - Throws: A failure with the status code 404 if the path isn't valid.
    package init(path: String, allowsOnlyPresets: Bool = false) throws(ServerFailure) {
        guard path.utf8.count <= Self.sizeLimit else {
            throw .notFound("The path has \(path.utf8.count) bytes. The limit is \(Self.sizeLimit).")
        }
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw .notFound("The path isn’t valid.")
        }
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 2, !parts[0].isEmpty else {
            throw .notFound("The path must have a signature and a source URL.")
        }
        signature = String(parts[0])
        signedPath = "/" + parts[1...].joined(separator: "/")
        options = []
        var rest = parts[1...]
        if allowsOnlyPresets, let names = Self.presets(rest) {
            options.append(names)
            rest = rest.dropFirst()
        }
        // Clients write an empty part for an empty list of options.
        while let part = rest.first, rest.count > 1 {
            let words = part.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            if words.count == 1, !part.isEmpty { break }
            if words.count > 1 { options.append(Option(words[0], Array(words[1...]))) }
            rest = rest.dropFirst()
        }
        if let reason = Self.unsupportedForm(rest) { throw .notFound(reason) }
        if rest.first == "plain", rest.count > 1 {
            (source, format) = try Self.plain(rest.dropFirst().joined(separator: "/"))
        } else {
            (source, format) = try Self.encoded(rest.joined())
        }
    }

    /// Returns the text of a path for logs. The source URL is decoded and has neither user information nor a query, and
    /// words in `secrets` are replaced.
    static func redacted(path: String, secrets: Set<String>, allowsOnlyPresets: Bool = false) -> String {
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count >= 2 else { return path }
        let signature = secrets.contains(String(parts[0])) ? "…" : String(parts[0])
        var options = parts[1...].prefix { $0 != "plain" && ($0.contains(":") || $0.isEmpty) }
        if allowsOnlyPresets, options.isEmpty, let first = parts[1...].first, parts.count > 2, first != "plain" {
            options = parts[1...].prefix(1)
        }
        let rest = parts[options.endIndex...]
        let url = try? ServerURL(path: path, allowsOnlyPresets: allowsOnlyPresets)
        var source = url?.source ?? ""
        if rest.first == "plain" {
            // An unescaped “@” can belong to user information instead of a format, and text that isn't valid can contain
            // a whole URL with its secrets.
            source = rest.dropFirst().joined(separator: "/").removingPercentEncoding ?? ""
        }
        source = String(Redaction.text(source).prefix { $0 != "?" && $0 != "#" })
        if let format = url?.format, format.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }),
            !source.hasSuffix("@\(format)")
        {
            source += "@\(format)"
        }
        let text = ["", signature] + options.map(String.init) + ["plain", source.isEmpty ? "…" : source]
        return text.joined(separator: "/")
    }

    private static func unsupportedForm(_ parts: ArraySlice<Substring>) -> String? {
        let parts = Array(parts.prefix(6))
        if parts.count > 1, parts[0] == "enc" {
            return
                "Encrypted source URLs (/enc/) aren’t supported, because they belong to the commercial edition of imgproxy."
        }
        // imgproxy 3 also removed this form: /RESIZE/WIDTH/HEIGHT/GRAVITY/ENLARGE/URL.
        let isBasic =
            parts.count == 6 && ["fit", "fill", "force", "auto", "crop"].contains(parts[0]) && Int(parts[1]) != nil
            && Int(parts[2]) != nil
        return isBasic
            ? "The basic form of URLs isn’t supported. Use options, such as /rs:\(parts[0]):\(parts[1]):\(parts[2])/."
            : nil
    }

    static let presetOptions: Set<String> = ["preset", "pr"]

    private static func presets(_ parts: ArraySlice<Substring>) -> Option? {
        guard let part = parts.first, parts.count > 1, part != "plain", !part.isEmpty else { return nil }
        let names = part.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        return names.count > 1 && presetOptions.contains(names[0]) ? nil : Option("preset", names)
    }

    private static func plain(_ text: String) throws(ServerFailure) -> (String, String?) {
        let (url, format) = try split(text, at: "@")
        guard let source = url.removingPercentEncoding else {
            throw .notFound("The source URL has invalid percent-encoding.")
        }
        return (source, format)
    }

    private static func encoded(_ text: String) throws(ServerFailure) -> (String, String?) {
        let (encoded, format) = try split(text, at: ".")
        guard let bytes = Base64URL.decode(encoded), let source = String(validating: bytes, as: UTF8.self) else {
            throw .notFound("The source URL isn’t valid base64url.")
        }
        guard !source.isEmpty else { throw .notFound("The source URL is empty.") }
        return (source, format)
    }

    private static func split(_ text: String, at mark: Character) throws(ServerFailure) -> (String, String?) {
        let parts = text.split(separator: mark, omittingEmptySubsequences: false)
        guard let first = parts.first, !first.isEmpty else { throw .notFound("The source URL is empty.") }
        guard parts.count <= 2 else {
            throw .notFound("The path has more than one format. Percent-encode “\(mark)” in the source URL.")
        }
        return (String(first), parts.count == 2 && !parts[1].isEmpty ? String(parts[1]) : nil)
    }
}
