// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// What stores add to a step of a download, and learn from it.
extension DownloadHop {
    private var jar: CookieJar? { (request.network.cookies ?? configuration.cookies).jar }
    private var credentials: CredentialStore? { request.network.credentials ?? configuration.credentials }

    /// The fields with cookies and credentials for this place. The caller's own count before them.
    func fieldsWithSecrets() -> HTTPFields {
        var fields = fields
        if fields["Cookie"] == nil, let cookies = jar?.field(for: url) {
            fields.append(name: "Cookie", value: cookies)
        }
        if fields["Authorization"] == nil, let credentials {
            let nonce = String(UInt64.random(in: .min ... .max), radix: 36)
            if let field = credentials.authorization(method: "GET", url: url, clientNonce: nonce) {
                fields.append(name: "Authorization", value: field)
            }
        }
        return fields
    }

    /// Keeps what an answer has for the stores.
    func learn(_ head: ResponseHead) {
        jar?.take(head.fields, from: url)
        learnTransport(head)
    }

    /// Keeps whether the host wants https alone; only where its certificate was checked (RFC 6797 8.1).
    func learnTransport(_ head: ResponseHead) {
        configuration.strictTransport?.take(head, from: url, request.network.tls ?? configuration.tls)
    }

    /// The same step with credentials, where `head` asks for them and there are some; nil otherwise.
    func answeringChallenge(_ head: ResponseHead) -> DownloadHop? {
        guard head.status == 401, fields["Authorization"] == nil, let credentials else { return nil }
        // A nonce can become stale between its challenge and the response to it (RFC 7616 3.3). It isn't a wrong
        // password, but no reason to ask indefinitely either.
        let isRenewed = answeredChallenges == 1 && AuthenticationChallenge.all(head).contains(where: \.isStaleNonce)
        guard answeredChallenges == 0 || isRenewed else {
            credentials.forget(url)
            return nil
        }
        guard credentials.learn(head, url: url) else { return nil }
        var again = self
        again.answeredChallenges += 1
        return again
    }

    /// Two steps of equal marks are a loop. A server may set a cookie and lead back to the same place.
    struct Mark: Equatable {
        let url: String
        let cookies: String?
        let answeredChallenges: Int
    }

    func mark(_ transfer: TransferRequest) -> Mark {
        Mark(url: transfer.url, cookies: transfer.fields["Cookie"], answeredChallenges: answeredChallenges)
    }

    /// The error of a status that is not accepted.
    func statusFailure(_ head: ResponseHead, retryAfter: Double?) -> ImageError {
        let isLocked = head.status == 401 || head.status == 407
        let realm = head.status == 401 ? AuthenticationChallenge.all(head).first?.realm ?? "" : ""
        return failure(
            isLocked ? .authenticationRequired : .status, status: head.status, retryAfter: retryAfter,
            freshFor: Freshness.told(by: head, now: Date()), detail: realm)
    }
}
