// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore

@Suite("Credentials in URLs")
struct URLCredentialsTests {
    @Test(
        "Only the user information of the authority is split off",
        arguments: [
            ("https://user:pass@a.example/b?c=d@e#f@g", "https://a.example/b?c=d@e#f@g", "user:pass"),
            ("ftp+x.1-z://user@[::1]:80", "ftp+x.1-z://[::1]:80", "user"),
            ("https://a@b:c@d.example?q", "https://d.example?q", "a@b:c"),
            ("https://@a.example/", "https://a.example/", ""),
        ])
    func split(text: String, url: String, credentials: String) throws {
        let parts = try #require(URLCredentials.split(text))
        #expect(parts.url == url && parts.credentials == credentials)
    }

    @Test(
        "Text without user information isn't split",
        arguments: [
            "", "@", "://", "://a@b", "https://a.example/@2x.png", "https://a.example?a=b@c", "mailto:a@b.example",
            "data:text/plain,https://a@b", "file:///tmp/a@2x.png", "a b://c@d",
        ])
    func whole(text: String) {
        #expect(URLCredentials.split(text) == nil)
    }

    @Test("User information is removed from every URL in a text, and the rest is unchanged")
    func text() {
        let text = "“https://u:p@a.example/x@y”, <http://v@b.example> and a@b.example; http://c.example d@e ü://w@z"
        #expect(
            URLCredentials.removed(from: text)
                == "“https://a.example/x@y”, <http://b.example> and a@b.example; http://c.example d@e ü://z")
        #expect(URLCredentials.removed(from: "https://u:p@") == "https://")
        #expect(URLCredentials.removed(from: "no URL, a@b") == "no URL, a@b")
    }

    @Test("Errors never contain user names or passwords")
    func errors() throws {
        let url = try #require(URL(string: "https://user:secret@a.example/b?c=d@e#f"))
        let network = ImageError.NetworkFailure(
            .redirectNotAllowed, url: url, phase: .waitingForResponse,
            details: "the target is ftp://user:secret@b.example/")
        #expect(network.url.absoluteString == "https://a.example/b?c=d@e#f")
        #expect(URLCredentials.removed(from: network.url) == network.url)
        var changed = network
        changed.details = "see https://user:secret@c.example/"
        let errors: [ImageError] = [
            .network(network), .network(changed), .request(.invalidURL("https://user:secret@a b/")),
            .network(network).remembered(until: .now),
        ]
        for error in errors { #expect(!error.description.contains("secret"), "\(error)") }
    }
}
