// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP
import WebImageTestSupport

@testable import WebImageNet

@Suite("Exchange keys")
struct ExchangeKeyTests {
    private let url = URL(string: "https://example.org/a.png?x=1") ?? URL(filePath: "/")

    private func request(_ change: (inout LoadRequest) -> Void = { _ in }) -> LoadRequest {
        var request = LoadRequest(url: url)
        change(&request)
        return request
    }

    private func key(
        _ rules: ExchangeRules = ExchangeRules(ImageDownloader.Configuration()),
        _ change: (inout LoadRequest) -> Void = { _ in }
    ) -> ExchangeKey {
        ExchangeKey(request(change), rules: rules)
    }

    @Test("Equal requests with equal configurations have equal keys")
    func equal() {
        #expect(key() == key())
        #expect(key().hashValue == key().hashValue)
        #expect(key { $0.url = URL(string: url.absoluteString + "#part") ?? url } == key())
    }

    @Test("Alternatives and timeouts don't change a key")
    func ignored() {
        #expect(key { $0.network.alternativeURLs = [url] } == key())
        #expect(key { $0.timeouts = LoadTimeouts(connect: 1, idle: 1, total: 1) } == key())
    }

    @Test("Each change to the sent data or the accepted responses changes the key")
    func different() {
        let changes: [(inout LoadRequest) -> Void] = [
            { $0.url = URL(string: "https://example.org/b.png") ?? $0.url },
            { $0.headers["X-Api-Key"] = "1" }, { $0.headers["X-Api-Key"] = "2" },
            { $0.maxByteCount = 5 }, { $0.acceptsNotModified = true }, { $0.network.retry = .never },
            { $0.network.cookieJar = .shared }, { $0.network.cookieJar = CookieJar() },
            { $0.network.credentials = CredentialStore() },
            { $0.network.tls = .insecure(hosts: ["example.org"]) },
            { $0.network.tls = TLSOptions().pinning("example.org", to: ["x"]) },
            { $0.network.acceptableStatusCodes = [200, 404] },
            { $0.network.acceptableStatusCodes = [404] },
            { $0.network.acceptableContentTypes = ["image/*"] },
            { $0.network.redirectPolicy = { _ in .returnResponse } }, { $0.network.redirectPolicy = { _ in .follow } },
        ]
        var keys = Set(changes.map { change in key { change(&$0) } })
        #expect(keys.count == changes.count)
        #expect(keys.insert(key()).inserted)
        #expect(keys.insert(key { $0.method = "POST" }).inserted)
        #expect(keys.insert(key { $0.body = Data("x".utf8) }).inserted)
        #expect(keys.insert(key(rules { $0.proxy = .disabled })).inserted)
        #expect(keys.insert(key(rules { $0.addressPolicy = .publicOnly })).inserted)
        #expect(keys.insert(key(rules { $0.maxRedirects = 1 })).inserted)
    }

    private func rules(_ change: (inout ImageDownloader.Configuration) -> Void = { _ in }) -> ExchangeRules {
        var configuration = ImageDownloader.Configuration()
        change(&configuration)
        return ExchangeRules(configuration)
    }

    @Test("An option that repeats the configuration doesn't change the key")
    func resolved() {
        let jar = CookieJar()
        let rules = rules { $0.cookieJar = jar }
        #expect(key(rules) { $0.network.cookieJar = jar } == key(rules))
        #expect(key(rules) { $0.network.acceptableStatusCodes = Set(200...299) } == key(rules))
        #expect(key(rules) { $0.network.cookieJar = .disabled } != key(rules))
    }

    @Test("Names of header fields are compared without case and order, but values exactly")
    func fields() {
        func key(_ lines: (String, String)...) -> ExchangeKey {
            self.key { $0.headers = HTTPHeaderFields(lines.map { .init(name: $0.0, value: $0.1) }) }
        }
        #expect(key(("A", "1"), ("B", "2")) == key(("b", "2"), ("a", "1")))
        #expect(key(("A", "1"), ("A", "2")) != key(("A", "2"), ("A", "1")))
    }

    @Test("Timeouts, retries, and alternatives don't change the cache key of options")
    func cacheKeys() {
        var options = NetworkOptions()
        options.timeout = .seconds(1)
        options.retry = .never
        options.alternativeURLs = [url]
        #expect(options != NetworkOptions())
        #expect(options.cacheKeyPart(for: url, defaultCookies: nil, defaultCredentials: nil) == nil)
        options.acceptableStatusCodes = [200, 404]
        #expect(options.cacheKeyPart(for: url, defaultCookies: nil, defaultCredentials: nil) != nil)
    }

    @Test("Copies of options with closures are equal, but options with new closures aren't")
    func closures() {
        var options = NetworkOptions()
        options.redirectPolicy = { _ in .returnResponse }
        let copy = options
        #expect(copy == options && copy.hashValue == options.hashValue)
        options.redirectPolicy = { _ in .returnResponse }
        #expect(copy != options)
        var policy = RetryPolicy.standard
        #expect(policy == .standard)
        policy.random = { $0.upperBound }
        #expect(policy != .standard && policy.random(0...3) == 3)
    }

    @Test("A key changes only if other cookies or credentials would be sent")
    func generations() {
        let jar = CookieJar()
        let store = CredentialStore()
        let rules = rules {
            $0.cookieJar = jar
            $0.credentials = store
        }
        var last = key(rules)
        func changes(_ body: () -> Void) -> Bool {
            body()
            defer { last = key(rules) }
            return key(rules) != last
        }
        let cookie = Cookie(name: "a", value: "1", domain: "example.org")
        #expect(changes { jar.set(cookie) })
        #expect(!changes { jar.set(cookie) })
        #expect(!changes { _ = jar.cookies(for: url) })
        #expect(changes { jar.set(Cookie(name: "a", value: "2", domain: "example.org")) })
        #expect(changes { jar.removeAll() })
        #expect(changes { store.setCredentials(user: "u", password: "p", for: url) })
        #expect(!changes { store.setCredentials(user: "u", password: "p", for: url) })
        #expect(changes { store.setCredentials(user: "u", password: "q", for: url) })
        #expect(changes { store.removeCredentials(for: url) })
        #expect(!changes { store.removeCredentials(for: url) })
    }

    @Test("The digest for the disk depends only on the data that is sent and reveals no secret")
    func digest() throws {
        func digest(_ value: String?, _ password: String?) -> String? {
            let (jar, store) = (CookieJar(), CredentialStore())
            if let value { jar.set(Cookie(name: "a", value: value, domain: "example.org")) }
            jar.set(Cookie(name: "a", value: "other", domain: "example.net"))
            if let password { store.setCredentials(user: "u", password: password, for: url, realm: "r") }
            return AccessIdentity.digest(for: url, cookies: jar, credentials: store)
        }
        #expect(digest(nil, nil) == nil)
        #expect(AccessIdentity.digest(for: url, cookies: nil, credentials: nil) == nil)
        let all = [digest("1", nil), digest("2", nil), digest(nil, "1"), digest(nil, "2"), digest("1", "1")]
        #expect(Set(all).count == all.count)
        #expect(digest("1", "1") == digest("1", "1"))
        let text = try #require(digest("secretcookie", "secretword"))
        #expect(text.count == 64 && text.allSatisfy(\.isHexDigit))
    }
}
