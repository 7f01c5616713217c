// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport

@testable import WebImageServer

@Suite("URLs in the grammar of imgproxy", .timeLimit(.minutes(1)))
struct ServerURLTests {
    @Test("Plain and encoded source URLs, options, and formats are parsed")
    func parts() throws {
        let plain = try ServerURL(path: "/sig/rs:fill:300:200/g:no/plain/https://a.example/b%3Fc%40d.jpg@webp")
        #expect(plain.signature == "sig")
        #expect(plain.signedPath == "/rs:fill:300:200/g:no/plain/https://a.example/b%3Fc%40d.jpg@webp")
        #expect(plain.options == [.init("rs", ["fill", "300", "200"]), .init("g", ["no"])])
        #expect(plain.source == "https://a.example/b?c@d.jpg")
        #expect(plain.format == "webp")

        let text = Data("https://a.example/b.jpg".utf8).base64EncodedString().replacingOccurrences(of: "=", with: "")
        // The encoded form can be divided into parts of a path.
        let divided = text.prefix(8) + "/" + text.dropFirst(8)
        for path in ["/_/\(text).png", "/_//\(text).png", "/_/w:10/\(divided).png", "/_/\(text)==.png"] {
            let url = try ServerURL(path: path)
            #expect(url.source == "https://a.example/b.jpg", "\(path)")
            #expect(url.format == "png")
        }
        #expect(try ServerURL(path: "/_/plain/local:///a.png").format == nil)
        #expect(try ServerURL(path: "/_/plain/local:///a.png@").format == nil)
    }

    @Test("Logged paths contain neither credentials nor queries, nor trusted signatures")
    func redaction() {
        func base64(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacingOccurrences(of: "/", with: "_")
                .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "=", with: "")
        }
        let url = "https://user:password@a.example/b.jpg?token=secret#secret"
        let shown = "/plain/https://a.example/b.jpg"
        let escaped = url.replacingOccurrences(of: "?", with: "%3F").replacingOccurrences(of: "@", with: "%40")
        for (path, expected) in [
            ("/sig/w:10/plain/\(escaped)@png", "/sig/w:10\(shown)@png"),
            ("/sig/\(base64(url)).png", "/sig\(shown)@png"),
            ("/sig/w:10/\(base64(url).prefix(9))/\(base64(url).dropFirst(9))", "/sig/w:10\(shown)"),
            ("/word/w:10/g:no/plain/local:///a.png", "/…/w:10/g:no/plain/local:///a.png"),
            ("/sig/plain/a/b.jpg%3Ftoken=secret@png", "/sig/plain/a/b.jpg@png"),
            ("/sig/plain/http://user:password@host/b.jpg?token=secret", "/sig/plain/http://host/b.jpg"),
            ("/sig/plain/http://user:password@host", "/sig/plain/http://host@host"),
            // Paths that can't be parsed.
            ("/sig/w:10/plain/\(escaped)@png@jpg", "/sig/w:10\(shown)"), ("/sig/w:10/plain/%zz", "/sig/w:10/plain/…"),
            ("/word/\(base64(url)).png.jpg", "/…/plain/…"), ("/word/\(base64(url))!", "/…/plain/…"),
            ("/sig/enc/\(base64(url))", "/sig/plain/…"), ("/favicon.ico", "/favicon.ico"), ("/", "/"),
        ] {
            let text = ServerURL.redacted(path: path, secrets: ["word"])
            #expect(text == expected, "\(path)")
            #expect(!text.contains("secret") && !text.contains("password") && !text.contains(base64("password")))
        }
        let preset = ServerURL.redacted(
            path: "/sig/thumb:big/plain/\(escaped)", secrets: [], allowsOnlyPresets: true)
        #expect(preset == "/sig/thumb:big\(shown)")
    }

    @Test(
        "Invalid paths are rejected with 404 and a reason",
        arguments: [
            "", "/", "//", "/sig", "sig/plain/a", "/sig/w:10", "/sig/plain/", "/sig/plain/a@b@c", "/sig/plain/%zz",
            "/sig/aHR0c.png.jpg", "/sig/****", "/sig/.png", "/s/plain/a%ff@png", "/s/_w", "/\0/plain/a",
            "/s/plain/" + String(repeating: "a", count: 20_000),
        ])
    func invalid(path: String) {
        do throws(ServerFailure) {
            let url = try ServerURL(path: path)
            Issue.record("\(url)")
        } catch {
            #expect(error.statusCode == 404)
            #expect(error.reason.hasSuffix("."))
        }
    }

    @Test("Encrypted source URLs and the basic form of imgproxy 2 are rejected with their reason")
    func unsupportedForms() {
        for (path, text) in [
            ("/s/enc/eyJ0/abc.jpg", "/enc/"), ("/s/w:10/enc/eyJ0abc", "/enc/"),
            ("/s/fit/300/200/ce/0/aHR0cDovL2EvYg.png", "/rs:fit:300:200/"),
            ("/s/fill/300/200/sm/1/plain/http://a/b", "/rs:fill:300:200/"),
        ] {
            do throws(ServerFailure) {
                Issue.record("\(try ServerURL(path: path))")
            } catch {
                #expect(error.statusCode == 404 && error.reason.contains(text), "\(path): \(error.reason)")
            }
        }
    }

    @Test("The signature of imgproxy's documentation is valid, and any change makes it invalid")
    func signature() throws {
        let key = try #require(
            URLSigningKey(
                key: "943b421c9eb07c830af81030552c86009268de4e532ba2ee2eab8247c6da0881",
                salt: "520f986b998545b4785e0defbc4f3c1203f22de2374a3d53cb7a7fe9fea309c5"))
        let path = "/rs:fill:300:400:0/g:sm/aHR0cDovL2V4YW1w/bGUuY29tL2ltYWdl/cy9jdXJpb3NpdHku/anBn.png"
        let signature = try #require(key.signature(of: path))
        var rules = URLSignatures()
        rules.keys = [key]
        try rules.check(signature, of: path)
        try rules.check(signature + "=", of: path)
        for (changed, text) in [
            (path + "a", signature), (path, String(signature.dropLast(2))), (path, "unsafe"), (path, ""),
            (path, "????"), (path, String(signature.reversed())),
        ] {
            #expect(throws: ServerFailure.self) { try rules.check(text, of: changed) }
        }
        // Short signatures are the first bytes of long ones, and each length is accepted only if it's configured.
        let short = try #require(key.signature(of: path, size: 8))
        #expect(throws: ServerFailure.self) { try rules.check(short, of: path) }
        rules.size = 8
        try rules.check(short, of: path)
        #expect(throws: ServerFailure.self) { try rules.check(signature, of: path) }
        rules.trusted = ["trusted"]
        try rules.check("trusted", of: path)
        #expect(URLSigningKey(key: "abc", salt: "00") == nil)
        #expect(URLSigningKey(key: "zz", salt: "00") == nil)
        #expect(URLSigningKey(key: "", salt: "00") == nil)
    }

    @Test("The digest of a signature is HMAC-SHA-256 of the salt and the path")
    func independentDigest() throws {
        // python3: hmac.new(b"key", b"salt" + b"/plain/a", "sha256"), base64url
        let key = try #require(URLSigningKey(key: "6b6579", salt: "73616c74"))
        #expect(key.signature(of: "/plain/a") == Self.expectedSignature)
    }

    private static let expectedSignature = "vzLYiYp5-ruzHFQm4Helm64plDvwQTslReB1m240J1s"
}
