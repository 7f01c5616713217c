// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// The settings of S3-compatible storage, with the names of imgproxy and AWS.
package struct S3Settings: Sendable, Hashable {
    package var isEnabled = false
    package var region = ""
    package var endpoint = ""
    package var usesPathStyle = true
    package var accessKeyID = ""
    package var secretAccessKey = ""
    package var sessionToken = ""
    package var allowedBuckets: Set<String> = []
    package var deniedBuckets: Set<String> = []

    package init() {}

    func storage() throws(ServiceSettings.Invalid) -> S3Storage? {
        guard isEnabled else { return nil }
        let region = region.isEmpty ? "us-east-1" : region
        let isName = { (text: String) in
            text.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-".utf8.contains($0) }
        }
        guard isName(region) else { throw .init("IMGPROXY_S3_REGION: “\(region)” isn’t a region") }
        let address = endpoint.isEmpty ? "https://s3.\(region).amazonaws.com" : endpoint
        guard let url = URLText.url(address), ["http", "https"].contains(url.scheme?.lowercased()),
            url.host()?.isEmpty == false, url.path().isEmpty || url.path() == "/", url.query() == nil
        else {
            throw .init("IMGPROXY_S3_ENDPOINT: “\(address)” isn’t a URL of the form https://HOST[:PORT]")
        }
        guard accessKeyID.isEmpty == secretAccessKey.isEmpty else {
            throw .init("AWS_ACCESS_KEY_ID: set both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or neither")
        }
        var credentials: AWSSignature?
        if !accessKeyID.isEmpty {
            credentials = AWSSignature(
                accessKeyID: accessKeyID, secretAccessKey: secretAccessKey,
                sessionToken: sessionToken.isEmpty ? nil : sessionToken, region: region)
        }
        var storage = S3Storage(endpoint: url, credentials: credentials)
        storage.usesPathStyle = usesPathStyle
        storage.allowedBuckets = allowedBuckets.isEmpty ? nil : allowedBuckets
        storage.deniedBuckets = deniedBuckets
        return storage
    }
}
