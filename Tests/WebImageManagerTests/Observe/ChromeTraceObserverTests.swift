// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

@Suite("Chrome traces", .timeLimit(.minutes(5)))
struct ChromeTraceObserverTests {
    private struct Document: Decodable {
        struct Entry: Decodable {
            let name: String
            let ph: String
            let pid: Int
            let tid: Int
            let ts: Double
            let dur: Double?
            var end: Double { ts + (dur ?? 0) }
        }

        let traceEvents: [Entry]
        let otherData: [String: Int]
        var complete: [Entry] { traceEvents.filter { $0.ph == "X" } }
    }

    private func document(_ trace: ChromeTraceObserver) throws -> Document {
        try JSONDecoder().decode(Document.self, from: trace.jsonData())
    }

    @Test("A trace of twenty loads is valid JSON without overlapping spans in a row and without secrets")
    func loads() async throws {
        let trace = ChromeTraceObserver()
        let loader = StubLoader()
        let fixture = try ManagerFixture { configuration in
            configuration.loaders = [loader]
            configuration.observers = [trace]
        }
        let urls = try (0..<20).map { try #require(URL(string: "https://example.org/\($0).png?secret=1")) }
        for (number, url) in urls.enumerated() {
            loader.respond(to: url, with: .init(body: try TestImages.png(number)))
        }
        for task in urls.map({ fixture.manager.load($0) }) { _ = try await task.image }
        await untilTrue { fixture.manager.runningJobs == 0 }
        let document = try document(trace)
        let spans = document.complete
        for stage in ["request", "load", "transfer", "decode", "store"] {
            #expect(spans.filter { $0.name == stage }.count == 20)
        }
        for (_, row) in Dictionary(grouping: spans, by: \.tid) {
            let sorted = row.sorted { $0.ts < $1.ts }
            for (one, next) in zip(sorted, sorted.dropFirst()) { #expect(one.end <= next.ts + 0.001) }
        }
        let names = document.traceEvents.filter { $0.ph == "M" }
        #expect(Set(names.map(\.tid)) == Set(spans.map(\.tid)))
        #expect(!String(decoding: trace.jsonData(), as: UTF8.self).contains("secret"))
    }

    @Test("The stages of a request follow one another within the request")
    func nesting() async throws {
        let trace = ChromeTraceObserver()
        let loader = StubLoader()
        let fixture = try ManagerFixture { configuration in
            configuration.loaders = [loader]
            configuration.observers = [trace]
        }
        let url = try #require(URL(string: "https://example.org/a.png"))
        loader.respond(to: url, with: .init(body: try TestImages.png(1)))
        _ = try await fixture.manager.image(for: ImageRequest(url: url, transformers: [.grayscale]))
        await untilTrue { fixture.manager.runningJobs == 0 }
        let spans = Dictionary(try document(trace).complete.map { ($0.name, $0) }) { first, _ in first }
        let request = try #require(spans["request"])
        let order = try ["load", "decode", "transform"].map { try #require(spans[$0]) }
        for (one, next) in zip(order, order.dropFirst()) { #expect(one.end <= next.ts + 0.001) }
        for span in order { #expect(request.ts <= span.ts && span.end <= request.end + 0.001) }
        let transfer = try #require(spans["transfer"])
        #expect(order[0].ts <= transfer.ts && transfer.end <= order[0].end + 0.001)
    }

    @Test("Overlapping work is in separate rows, also if the end of the first work is reported first")
    func lateBeginning() throws {
        let trace = ChromeTraceObserver()
        let start = ContinuousClock.now
        func tell(_ phase: ImageManager.Event.Phase, _ span: Int, milliseconds: Int) {
            trace.observe(
                ImageManager.Event(
                    stage: .load, requestID: span, spanID: span, time: start + .milliseconds(milliseconds),
                    url: URL(filePath: "/a"), cacheKey: nil, threadName: nil, details: "",
                    duration: phase == .ended ? .zero : nil))
        }
        tell(.began, 1, milliseconds: 10)
        tell(.ended, 1, milliseconds: 20)
        tell(.began, 2, milliseconds: 15)
        tell(.ended, 2, milliseconds: 25)
        tell(.began, 3, milliseconds: 22)
        tell(.ended, 3, milliseconds: 30)
        let rows = try document(trace).complete.map(\.tid)
        #expect(rows.count == 3 && rows[0] != rows[1] && rows[0] == rows[2])
    }

    @Test("A trace that exceeds its limit counts the dropped spans")
    func limited() throws {
        let trace = ChromeTraceObserver(maxEvents: 1)
        let request = ObserverNotifier([trace], SpanCounter(), URL(filePath: "/a"))
        for _ in 0..<3 { request.begin(.diskLookup).end() }
        let document = try document(trace)
        #expect(document.complete.count == 1 && document.otherData["dropped"] == 2)
    }
}
