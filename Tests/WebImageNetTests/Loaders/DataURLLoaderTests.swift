// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Testing
import WebImageCore
import WebImageHTTP

@testable import WebImageNet

@Suite("Data URL loader")
struct DataURLLoaderTests {
    @Test(
        "Row 54: Both forms are parsed in any case, with parameters and whitespace",
        arguments: [
            ("data:image/png;base64,AAEC/w==", "image/png", [0, 1, 2, 255]),
            ("data:image/png;base64,AAEC/w", "image/png", [0, 1, 2, 255]),
            ("data:image/png;base64,AAEC_w", "image/png", [0, 1, 2, 255]),
            ("DATA:IMAGE/PNG;BASE64,AAEC%2Fw%3D%3D", "IMAGE/PNG", [0, 1, 2, 255]),
            ("data:image/png;a=b;base64,AA EC%0A/w==", "image/png;a=b", [0, 1, 2, 255]),
            ("data:image/png; base64 ,AAEC", "image/png", [0, 1, 2]),
            ("data:;base64,AAE=", "text/plain;charset=US-ASCII", [0, 1]),
            ("data:,A%20b%ff", "text/plain;charset=US-ASCII", [65, 32, 98, 255]),
            ("data:;charset=utf-8,a,b", "text/plain;charset=utf-8", [97, 44, 98]),
            ("data:text/plain,100%", "text/plain", [49, 48, 48, 37]),
            ("data:text/plain,%4", "text/plain", [37, 52]),
            ("data:text/plain,%zz", "text/plain", [37, 122, 122]),
            ("data:text/plain,a#b", "text/plain", [97]),
            ("data:base64,AA", "base64", [65, 65]),
        ])
    func forms(text: String, type: String, bytes: [UInt8]) throws {
        let url = try DataURL(text, maxBytes: 100)
        #expect(url.type == type)
        #expect(Array(url.body) == bytes)
    }

    @Test(
        "Text of data URLs denotes the bytes that it denotes in browsers",
        arguments: [
            ("data:text/plain,a%20b c%23%", "a b c#%"), ("data:;base64,QUJD\n\tRA ==\n", "ABCD"),
            ("data:image/svg+xml,<svg a='%23b' c=\"[%25]\"/>", "<svg a='#b' c=\"[%]\"/>"),
            ("data:,%C3%A4\u{e4}\\", "\u{e4}\u{e4}\\"),
        ])
    func text(text: String, decoded: String) throws {
        let url = try #require(URLText.url(text))
        #expect(try DataURL(url.absoluteString, maxBytes: 100).body == Data(decoded.utf8))
    }

    @Test(
        "Row 54: Invalid data URLs are rejected",
        arguments: [
            "data:", "data:image/png;base64", "date:,a", "data:;base64,A", "data:;base64,AAAAA", "data:;base64,AA=A",
            "data:;base64,AA=", "data:;base64,AAA==", "data:;base64,AA*A", "data:;base64,====", "",
        ])
    func refusals(_ text: String) {
        do throws(ImageError) {
            _ = try DataURL(text, maxBytes: 100)
            Issue.record("\(text) was read")
        } catch {
            #expect(error.code == 1005)
        }
    }

    @Test("Row 54: The size limit applies to decoded bytes")
    func limit() throws {
        #expect(try DataURL("data:;base64,AAEC", maxBytes: 3).body.count == 3)
        for text in ["data:;base64,AAECAw==", "data:,abcd", "data:," + String(repeating: "%41", count: 1000)] {
            #expect(throws: ImageError.self) { try DataURL(text, maxBytes: 3) }
        }
    }

    @Test("Random text results in data within the limit or throws")
    func noise() {
        var generator = SeededGenerator(seed: 7)
        let alphabet = Array("data:;,base64%=#AZaz09+/-_ \n".utf8)
        for _ in 0..<20_000 {
            let noise = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            let text = (Bool.random(using: &generator) ? "data:" : "") + String(decoding: noise, as: UTF8.self)
            if let url = try? DataURL(text, maxBytes: 20) { #expect(url.body.count <= 20) }
        }
    }

    @Test("A load reports a head with the content type, and then the body")
    func load() async throws {
        let url = try #require(URL(string: "data:image/gif;base64,R0lGODlh"))
        let log = ReportLog()
        let response = try await DataURLLoader().load(LoadRequest(url: url), context: log.context())
        #expect(response.body == Data("GIF89a".utf8) && log.body == response.body && log.status == 200)
        #expect(response.httpResponse?.headers["Content-Type"] == "image/gif")
        #expect(DataURLLoader().canLoad(url))
    }

    @Test("A long URL is decoded on a thread of the loader, and a waiting load can be canceled")
    func threads() async throws {
        let lane = FileReadQueue(width: 1)
        let loader = DataURLLoader(readQueue: lane, limit: .max)
        let (isBusy, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let bytes = patternBytes(100_000)
        let long = try #require(URL(string: "data:image/png;base64,\(bytes.base64EncodedString())"))
        let holder = Task {
            try await lane.run(LoadContext()) { (_) throws(ImageError) in
                isBusy.signal()
                gate.wait()
                return LoadResponse(body: Data(), url: long, requestDate: Date(), responseDate: Date())
            }
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                isBusy.wait()
                continuation.resume()
            }
        }
        // A short URL is decoded without waiting for the thread.
        let short = try #require(URL(string: "data:image/png;base64,AAEC"))
        #expect(try await loader.load(LoadRequest(url: short), context: LoadContext()).body == Data([0, 1, 2]))
        let loads = (0..<2).map { _ in
            Task { try await loader.load(LoadRequest(url: long), context: LoadContext()).body }
        }
        while lane.waitingCount < 2 { await Task.yield() }
        loads[1].cancel()
        await #expect(throws: ImageError.cancelled) { try await loads[1].value }
        gate.signal()
        #expect(try await loads[0].value == bytes)
        _ = try await holder.value
    }
}

/// A generator that produces the same numbers in every run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
