// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// An S3-compatible storage that serves source URLs of the form `s3://BUCKET/KEY`.
public struct S3Storage: Sendable, Hashable {
    /// The credentials, or `nil` to send unsigned requests to public buckets.
    public var credentials: AWSSignature?
    /// The URL of the storage, such as `https://s3.eu-central-1.amazonaws.com`.
    ///
    /// The address policy, the allowed ports, and the other rules of the manager apply to it.
    public var endpoint: URL
    /// A Boolean value that indicates whether the bucket is the first part of the path. Otherwise, it's the first label
    /// of the host name. The default is `true`.
    public var usesPathStyle = true
    /// The buckets that the server reads, or `nil` for all. The default is `nil`.
    public var allowedBuckets: Set<String>?
    /// The buckets that the server doesn't read. The default is none.
    public var deniedBuckets: Set<String> = []

    /// Creates a description of a storage.
    public init(endpoint: URL, credentials: AWSSignature?) {
        self.endpoint = endpoint
        self.credentials = credentials
    }

    /// The text after `s3://` contains a bucket, a key, and optionally a version (`?versionId=…`).
    ///
    /// - Throws: A failure with the status code 404 if the bucket or the key isn't valid or isn't allowed.
    func url(of text: Substring) throws(ServerFailure) -> URL {
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = (parts.first ?? "").split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard path.count == 2, Self.isBucket(path[0]), !path[1].isEmpty else {
            throw .notFound("The URL of the object must have the form s3://BUCKET/KEY.")
        }
        let bucket = String(path[0])
        guard allowedBuckets?.contains(bucket) ?? true, !deniedBuckets.contains(bucket) else {
            throw .notFound("The server doesn’t allow this bucket.")
        }
        // Storages don’t resolve dot segments, but HTTP clients and proxies do.
        let segments = path[1].split(separator: "/", omittingEmptySubsequences: false)
        guard !segments.contains(where: { $0 == "." || $0 == ".." }), !path[1].utf8.contains(0) else {
            throw .notFound("The key of the object isn’t valid.")
        }
        var query = ""
        if parts.count == 2 {
            let version = parts[1].hasPrefix("versionId=") ? parts[1].dropFirst("versionId=".count) : ""
            guard !version.isEmpty, let encoded = Self.encoded(version) else {
                throw .notFound("The query of the object’s URL may only contain “versionId”.")
            }
            query = "?versionId=" + encoded
        }
        guard let key = Self.encoded(path[1], allowing: "/"), let url = url(of: bucket, key, query) else {
            throw .notFound("The key of the object isn’t valid.")
        }
        return url
    }

    /// Returns whether a URL belongs to the storage.
    func contains(_ url: URL) -> Bool {
        guard let host = url.host()?.lowercased(), let own = endpoint.host()?.lowercased(),
            url.scheme?.lowercased() == endpoint.scheme?.lowercased(), url.port == endpoint.port
        else { return false }
        return host == own || !usesPathStyle && host.hasSuffix(".\(own)")
    }

    private func url(of bucket: String, _ key: String, _ query: String) -> URL? {
        var base = endpoint.absoluteString
        while base.hasSuffix("/") { base.removeLast() }
        guard !usesPathStyle else { return URL(string: "\(base)/\(bucket)/\(key)\(query)") }
        guard let slashes = base.range(of: "://") else { return nil }
        base.insert(contentsOf: bucket + ".", at: slashes.upperBound)
        return URL(string: "\(base)/\(key)\(query)")
    }

    /// The characters of bucket names, which can't end the host or the path of a URL.
    private static func isBucket(_ text: Substring) -> Bool {
        let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_".utf8
        return (3...63).contains(text.utf8.count) && !text.hasPrefix(".") && !text.contains("..")
            && text.utf8.allSatisfy { letters.contains($0) }
    }

    /// Returns text in the percent-encoding of AWS signatures, which encodes all bytes except unreserved characters.
    private static func encoded(_ text: Substring, allowing extra: String = "") -> String? {
        text.addingPercentEncoding(
            withAllowedCharacters: CharacterSet(
                charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~" + extra))
    }
}
