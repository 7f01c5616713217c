// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("Names of secrets")
struct SecretNamesTests {
    @Test(
        "Values of secret parameters are removed from URLs in a text, and others remain",
        arguments: [
            ("http://u:p@a.example/x?X-Amz-Signature=abc&w=1", "http://a.example/x?X-Amz-Signature=…&w=1"),
            ("[https://a.example/?w=1&sig=a%2Fb].", "[https://a.example/?w=1&sig=…]."),
            ("“https://a.example/?access_token=x” and ?key=y z", "“https://a.example/?access_token=…” and ?key=… z"),
            ("https://a.example/#id_token=x", "https://a.example/#id_token=…"),
            ("https://a.example/?%74oken=x", "https://a.example/?%74oken=…"),
            ("https://a.example/?keyword=x&design=y", "https://a.example/?keyword=x&design=y"),
            ("https://a.example/token=x", "https://a.example/token=x"), ("token=x", "token=x"), ("?", "?"),
            ("?=&=", "?=&="),
        ])
    func texts(text: String, expected: String) {
        #expect(SecretNames.removed(from: text) == expected)
        #expect(SecretNames.removed(from: expected) == expected)
    }

    @Test("Messages of errors contain no values of secret parameters")
    func errors() throws {
        let url = try #require(URL(string: "https://a.example/b?w=1&X-Amz-Signature=hidden&Key-Pair-Id=hidden"))
        for error in [
            ImageError.network(
                ImageError.NetworkFailure(
                    .redirectNotAllowed, url: url, details: "the target is ftp://b.example/?token=hidden")),
            .request(.invalidURL("https://a b/?password=hidden")),
            .limitExceeded(
                ImageError.LimitFailure(.encodedSize, limit: 1, actual: 2, detail: "https://a.example/?sig=hidden")),
        ] {
            #expect(!error.description.contains("hidden"), "\(error)")
        }
    }
}
