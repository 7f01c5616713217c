// SPDX-License-Identifier: MIT

import Testing
import WebImageHTTP

@Suite("Header fields")
struct HTTPHeaderFieldsTests {
    @Test("A literal and a sequence of pairs keep their order and repeated names")
    func order() {
        let literal: HTTPHeaderFields = ["Accept": "image/*", "X": "1", "x": "2"]
        let sequence = HTTPHeaderFields(
            [("Accept", "image/*"), ("X", "1"), ("x", "2")].map { (name: $0.0, value: $0.1) })
        #expect(literal == sequence && literal.count == 3)
        #expect(literal.map(\.name) == ["Accept", "X", "x"])
        #expect(literal[1].value == "1" && literal.last?.value == "2")
        #expect(literal["x"] == "1" && literal.values(for: "X") == ["1", "2"])
        #expect(HTTPHeaderFields().isEmpty)
    }

    @Test("Names of header fields that identify a user or contain a secret are recognized")
    func identifyingNames() {
        for name in [
            "Authorization", "Cookie", "Set-Cookie", "Proxy-Authorization", "X-Api-Key", "X-ApiKey", "api_key",
            "X-Auth-Token", "PRIVATE-TOKEN", "X-Amz-Security-Token", "X-Session-Id", "X-Forwarded-User", "Remote-User",
            "X-CSRF-Token", "X-Auth", "X-Goog-Authenticated-User-Email", "X-Tenant",
        ] {
            #expect(HTTPHeaderFields.identifiesUser(name), "\(name)")
        }
        for name in [
            "Accept", "Accept-Encoding", "User-Agent", "WWW-Authenticate", "Cache-Control", "Range", "Referer",
            "X-Author",
            "Access-Control-Allow-Credentials", "If-None-Match", "ETag", "Content-Type", "Priority", "Req-Num",
            "Test-ID",
            "Sec-Fetch-User", "Surrogate-Key",
        ] {
            #expect(!HTTPHeaderFields.identifiesUser(name), "\(name)")
        }
        let fields: HTTPHeaderFields = ["X-Api-Key": "hidden", "X-Trace": "shown"]
        #expect(fields.description == "X-Api-Key: <redacted>\nX-Trace: shown")
    }

    @Test("The description omits credentials")
    func description() {
        let fields: HTTPHeaderFields = ["Accept": "image/*", "authorization": "Bearer abc", "Cookie": "a=1"]
        #expect(fields.description == "Accept: image/*\nauthorization: <redacted>\nCookie: <redacted>")
    }
}
