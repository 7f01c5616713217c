// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageStore

@testable import WebImage

@Suite("Request keys")
struct RequestKeysTests {
    private func keys(_ change: (inout ImageRequest) -> Void = { _ in }) throws -> RequestKeys {
        var request = ImageRequest(try #require(URL(string: "https://example.org/a.png")))
        change(&request)
        return RequestKeys(request, source: "a", transformers: request.transformers ?? [])
    }

    @Test("everything that changes pixels changes the key; the bytes' key stays")
    func decodeFields() throws {
        let plain = try keys()
        let others = try [
            keys { $0.size = .fit(width: 10, height: 10) },
            keys { $0.size = .fit(width: 10, height: 11) },
            keys { $0.size = .fill(width: 10, height: 10) },
            keys { $0.size = .fit(width: 10, height: 10, unit: .points) },
            keys { $0.size = .fitting(bytes: 10) },
            keys { $0.scale = 2 },
            keys { $0.frames = .first },
            keys { $0.frames = .single(1) },
            keys { $0.decoding.depth = .source },
            keys { $0.decoding.reduction = .box },
            keys { $0.decoding.allowsPartial = true },
            keys { $0.decoding.formatHint = .svg },
            keys { $0.decoding.extras = ["a": "b"] },
            keys { $0.transformers = [.roundedCorners(radius: 3)] },
            keys { $0.transformers = [.roundedCorners(radius: 4)] },
        ]
        let finals = [plain.final.canonical] + others.map(\.final.canonical)
        #expect(Set(finals).count == finals.count)
        #expect(Set(others.map(\.data)).union([plain.data]).count == 1)
    }

    @Test("header fields that select other bytes change the bytes' key, others do not, and no secret is in it")
    func fields() throws {
        let plain = try keys()
        let one = try keys { $0.fields["Authorization"] = "Bearer secret-one" }
        let two = try keys { $0.fields["authorization"] = "Bearer secret-two" }
        let tracing = try keys { $0.fields["X-Trace"] = "1" }
        let person = try keys { $0.identity = "secret-person" }
        #expect(Set([plain.data, one.data, two.data, person.data]).count == 4)
        #expect(!person.data.canonical.contains("secret"))
        #expect(tracing.data == plain.data)
        #expect(!one.data.canonical.contains("secret"))
    }

    @Test("lengths keep fields apart that look alike when joined")
    func lengthPrefixed() {
        #expect(CacheKey(["ab", "c"]) != CacheKey(["a", "bc"]))
        #expect(CacheKey(["a", ""]) != CacheKey(["a"]))
        #expect(CacheKey(["a"]).appending(["b"]) == CacheKey(["a", "b"]))
    }

    @Test(
        "names tell the scale",
        arguments: [("a@2x.png", 2.0), ("a@3x", 3), ("a.png", 1), ("@x.png", 1), ("a@0x.png", 1)])
    func scale(name: String, scale: Double) {
        #expect(ImageScale.from(key: name) == scale)
    }
}
