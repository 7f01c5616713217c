// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

/// The credentials with which requests are signed for S3-compatible storage (AWS Signature Version 4).
///
/// libcurl computes the signature when it sends a request. Redirects to another origin aren't signed.
public struct AWSSignature: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The access key.
    public var accessKeyID: String
    /// The secret key, which is never sent.
    public var secretAccessKey: String
    /// The token of temporary credentials, or `nil`. The default is `nil`.
    public var sessionToken: String?
    /// The region, such as `eu-central-1`.
    public var region: String
    /// The service. The default is `s3`.
    public var service: String

    /// Creates credentials.
    public init(
        accessKeyID: String, secretAccessKey: String, sessionToken: String? = nil, region: String,
        service: String = "s3"
    ) {
        self.accessKeyID = accessKeyID
        self.secretAccessKey = secretAccessKey
        self.sessionToken = sessionToken
        self.region = region
        self.service = service
    }

    /// The access key and the region, without the secret.
    public var description: String { "AWSSignature(\(accessKeyID), \(region), \(service))" }
    /// A mirror without the secret.
    public var customMirror: Mirror { Mirror(self, children: ["accessKeyID": accessKeyID, "region": region]) }

    /// Returns the header fields of a request that libcurl signs: those of the request and those that S3 requires.
    ///
    /// libcurl signs all of them. Before version 8, it sorts `accept-encoding` before `accept`, which storages reject. So
    /// the result has no `Accept-Encoding`, and no field whose name is the beginning of another one.
    func prepared(_ fields: HTTPHeaderFields, body: Data) -> HTTPHeaderFields {
        // S3 requires a digest. The body of a signed upload isn't part of the signature, so TLS must protect it.
        let digest =
            body.isEmpty ? "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" : "UNSIGNED-PAYLOAD"
        let names = fields.lines.map { $0.name.lowercased() }.filter { $0 != "accept-encoding" }
        var signed = HTTPHeaderFields(
            fields.lines.filter { field in
                let name = field.name.lowercased()
                return name != "accept-encoding" && !names.contains { $0.hasPrefix(name + "-") }
            })
        signed["x-amz-content-sha256"] = digest
        if let sessionToken { signed["x-amz-security-token"] = sessionToken }
        return signed
    }

    var curlValue: String { "aws:amz:\(region):\(service)" }

    var keyParts: [String] { [accessKeyID, secretAccessKey, sessionToken ?? "", region, service] }
}
