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

    @Test("The description omits credentials")
    func description() {
        let fields: HTTPHeaderFields = ["Accept": "image/*", "authorization": "Bearer abc", "Cookie": "a=1"]
        #expect(fields.description == "Accept: image/*\nauthorization: <redacted>\nCookie: <redacted>")
    }
}
