// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing
import WebImageConcurrency
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

@testable import WebImage

/// An observer that records all events.
private final class Recorder: ImageManagerObserver {
    private let state = Lock<[ImageManager.Event]>([])
    var events: [ImageManager.Event] { state.withLock { $0 } }
    func observe(_ event: ImageManager.Event) { state.withLock { $0.append(event) } }
    /// Returns the stage and the phase of the events of a request, in order.
    func names(_ request: Int) -> [String] {
        events.filter { $0.requestID == request }.map { "\($0.stage) \($0.phase)" }
    }
}

/// An observer that cancels a request as soon as its data is stored.
private struct Quitter: ImageManagerObserver {
    let task = Shared<ImageTask?>(nil)
    func observe(_ event: ImageManager.Event) {
        if event.stage == .store, event.phase == .ended { task.value?.cancel() }
    }
}

/// An observer that changes a transfer while the transfer begins.
private final class TransferChanger: ImageManagerObserver {
    let transfer = Shared<TransferTrace?>(nil)
    private let change: @Sendable (TransferTrace) -> Void
    private let state = Lock<[ImageManager.Event]>([])
    var events: [ImageManager.Event] { state.withLock { $0 } }

    init(change: @escaping @Sendable (TransferTrace) -> Void) { self.change = change }

    func observe(_ event: ImageManager.Event) {
        let count = state.withLock { state in
            state.append(event)
            return state.count
        }
        // If the transfer began again, starting it each time would never end.
        if count == 1, let transfer = transfer.value { change(transfer) }
    }
}

@Suite("Observers, statistics, and activity", .timeLimit(.minutes(5)))
struct ObserverTests {
    private let loader = StubLoader()
    private let recorder = Recorder()
    private let url: URL

    init() throws {
        url = try #require(URL(string: "https://user:secret@example.org/a.png?signature=secret"))
        loader.respond(to: url, with: .init(body: try TestImages.png(1)))
    }

    private func fixture(_ observers: any ImageManagerObserver...) throws -> ManagerFixture {
        try ManagerFixture { [loader] configuration in
            configuration.loaders = [loader]
            configuration.cachePolicy = .cacheFirst
            configuration.observers = observers
            // No other process uses the directory, so the index always proves that an entry doesn't exist.
            configuration.diskCache?.refreshInterval = .infinity
        }
    }

    @Test("Every stage of a request is reported in order, with its sizes, origin, and key")
    func stages() async throws {
        let fixture = try fixture(recorder)
        let request = ImageRequest(url: url, size: .fit(width: 16), transformers: [.grayscale])
        // Until the index is loaded, the manager must query the disk.
        await fixture.manager.diskCache?.flush()
        _ = try await fixture.manager.image(for: request)
        await untilTrue { fixture.manager.runningJobs == 0 }
        #expect(
            recorder.names(1) == [
                "request began", "load began", "transfer began", "transfer ended", "load ended", "decode began",
                "decode ended", "transform began", "transform ended", "store began", "store ended", "request ended",
            ])
        let events = recorder.events
        func end(_ stage: ImageManager.Stage) -> ImageManager.Event? {
            events.first { $0.stage == stage && $0.phase == .ended }
        }
        let bytes = try TestImages.png(1).count
        #expect(end(.load)?.byteCount == bytes && end(.store)?.byteCount == bytes)
        #expect(end(.decode)?.imageSize == PixelSize(width: 16, height: 12))
        #expect(end(.decode)?.threadName?.hasPrefix("worker ") == true)
        #expect(end(.request)?.source == .network && end(.request)?.cacheKey != nil)
        #expect(end(.transform)?.details.isEmpty == false)
        #expect(events.allSatisfy { ($0.duration == nil) == ($0.phase == .began) })
        // The second request is a memory hit.
        _ = try await fixture.manager.image(for: request)
        #expect(recorder.names(2) == ["request began", "request ended"])
        #expect(recorder.events.last?.source == .memoryCache)
    }

    @Test("A failure is reported with its error, and every `began` event has an `ended` event")
    func failures() async throws {
        let fixture = try fixture(recorder)
        let nowhere = try #require(URL(string: "https://example.org/none"))
        _ = try? await fixture.manager.image(for: nowhere)
        #expect(recorder.events.last?.error?.code == 2002)
        loader.respond(to: nowhere, with: .init(body: Data("plain text".utf8)))
        var again = ImageRequest(url: nowhere)
        again.caching.bypassesFailureCache = true
        _ = try? await fixture.manager.image(for: again)
        let began = recorder.events.filter { $0.phase == .began }.map(\.spanID).sorted()
        #expect(began == recorder.events.filter { $0.phase == .ended }.map(\.spanID).sorted())
        #expect(Set(began).count == began.count)
    }

    @Test("A transfer that starts twice or after its end is reported at most once")
    func transfers() {
        let trace = ObserverNotifier([recorder], SpanCounter(), url)
        let usual = TransferTrace(trace)
        usual?.start()
        usual?.start()
        usual?.end(bytes: 1, error: nil)
        usual?.start()
        let late = TransferTrace(trace)
        late?.end(bytes: nil, error: .cancelled)
        late?.start()
        #expect(recorder.names(1) == ["transfer began", "transfer ended"])
        #expect(TransferTrace(nil) === nil)
    }

    @Test("The statistics count the origins of responses and the saved work")
    func statistics() async throws {
        let fixture = try fixture()
        let gate = TestGate()
        loader.respond(to: url, with: .init(body: try TestImages.png(1), responseGate: gate))
        let tasks = (0..<5).map { _ in fixture.manager.load(url) }
        await loader.waitForRequests(count: 1)
        await untilTrue { fixture.manager.statistics.coalescedLoads == 4 }
        gate.open()
        for task in tasks { _ = try await task.image }
        _ = try await fixture.manager.image(for: url)
        fixture.manager.memoryCache.removeAll()
        await fixture.manager.letsGo(of: ImageRequest(url: url))
        _ = try await fixture.manager.image(for: url)
        var tiny = ImageRequest(url: url, size: .fit(width: 3))
        tiny.limits = ImageLimits.desktop
        tiny.limits?.maxSourcePixels = 10
        _ = try? await fixture.manager.image(for: tiny)
        let counts = fixture.manager.statistics
        #expect(counts.downloads == 5)
        #expect(counts.loads == 1)
        #expect(try counts.loadedByteCount == TestImages.png(1).count)
        #expect(counts.memoryHits == 1)
        #expect(counts.diskHits == 1)
        #expect(counts.failures == 1)
        #expect(counts.limitFailures == 1)
        #expect(counts.decodes == 2)
        #expect(counts.hitRate == 2.0 / 7)
        let other = try #require(URL(string: "https://example.org/b"))
        loader.respond(to: other, with: .init(responseGate: TestGate()))
        fixture.manager.load(other).cancel()
        await untilTrue { fixture.manager.statistics.cancellations == 1 }
    }

    @Test("A request that is canceled after its image was decoded counts as canceled")
    func givenUpLate() async throws {
        let quitter = Quitter()
        let fixture = try fixture(quitter, recorder)
        let gate = TestGate()
        loader.respond(to: url, with: .init(body: try TestImages.png(1), responseGate: gate))
        let task = fixture.manager.load(url)
        quitter.task.value = task
        gate.open()
        await #expect(throws: ImageError.cancelled) { try await task.response }
        await untilTrue { fixture.manager.statistics.cancellations + fixture.manager.statistics.downloads > 0 }
        #expect(fixture.manager.statistics.cancellations == 1)
        await untilTrue { recorder.events.contains { $0.stage == .request && $0.phase == .ended } }
        let end = recorder.events.last { $0.stage == .request && $0.phase == .ended }
        #expect(end?.error == .cancelled)
    }

    @Test("The activity is the number of running loads")
    func activity() async throws {
        let fixture = try fixture()
        let gate = TestGate()
        loader.respond(to: url, with: .init(body: try TestImages.png(1), responseGate: gate))
        var counts = fixture.manager.activeDownloadCounts.makeAsyncIterator()
        #expect(await counts.next() == 0)
        let task = fixture.manager.load(url)
        #expect(await counts.next() == 1)
        gate.open()
        _ = try await task.image
        #expect(await counts.next() == 0)
        #expect(fixture.manager.activeDownloadCount == 0)
    }

    @Test(
        "A log contains the events of its level, and no secrets unless requested",
        arguments: LogObserver.Level.allCases)
    func log(level: LogObserver.Level) async throws {
        let lines = Lock<[String]>([])
        let fixture = try fixture(LogObserver(level: level) { _, line in lines.withLock { $0.append(line) } })
        _ = try await fixture.manager.image(for: url)
        let nowhere = try #require(URL(string: "https://user:secret@example.org/none?signature=secret"))
        _ = try? await fixture.manager.image(for: nowhere)
        let written = lines.withLock { $0 }
        #expect(!written.joined().contains("secret"))
        switch level {
        case .error:
            #expect(written.count == 1 && written[0].hasSuffix("(2002)") && !written[0].contains("failed 2002"))
        case .info: #expect(written.count == 2 && written[0].contains("request ended from network 64x48"))
        case .debug: #expect(written.count > 8)
        }
        let event = ImageManager.Event(
            stage: .load, requestID: 1, spanID: 1, time: .now, url: url, cacheKey: nil, threadName: nil, details: "")
        #expect(event.duration == nil && event.redactedURL == "https://example.org/a.png?…")
        let open = Lock("")
        LogObserver(level: .debug, includesSecrets: true) { _, line in open.withLock { $0 = line } }.observe(
            ImageManager.Event(
                stage: .load, requestID: 1, spanID: 1, time: .now, url: url, cacheKey: nil, threadName: nil, details: ""
            )
        )
        #expect(open.withLock { $0 }.contains("signature=secret"))
    }

    @Test("A transfer begins and ends once if its start is reported again while it begins")
    func transferStart() throws {
        let restarter = TransferChanger { $0.start() }
        let transfer = try #require(TransferTrace(ObserverNotifier([restarter], SpanCounter(), url)))
        restarter.transfer.value = transfer
        transfer.start()
        transfer.end(bytes: 3, error: nil)
        restarter.transfer.value = nil
        #expect(restarter.events.map(\.phase) == [.began, .ended])
        #expect(Set(restarter.events.map(\.spanID)).count == 1)
        #expect(restarter.events.last?.byteCount == 3)
    }

    @Test("A transfer that ends while it begins reports its size and its error")
    func transferEnd() throws {
        let finisher = TransferChanger { $0.end(bytes: 5, error: .cancelled) }
        let transfer = try #require(TransferTrace(ObserverNotifier([finisher], SpanCounter(), url)))
        finisher.transfer.value = transfer
        transfer.start()
        transfer.end(bytes: 6, error: nil)
        finisher.transfer.value = nil
        #expect(finisher.events.map(\.phase) == [.began, .ended])
        #expect(finisher.events.last?.byteCount == 5 && finisher.events.last?.error == .cancelled)
    }

    @Test(
        "Redaction removes potential secrets from text and keeps the rest",
        arguments: [
            ("https://a.org/x.png", "https://a.org/x.png"), ("no URL at all", "no URL at all"),
            ("https://u:p@a.org:80/x?t=1#f rest", "https://a.org:80/x?… rest"),
            ("GET https://a.org?q, then (http://u@b/c)", "GET https://a.org?…, then (http://b/c)"),
            ("failed [https://a.org/x?k=v].", "failed [https://a.org/x?…]."),
            ("([https://a.org/x_(1)]).", "([https://a.org/x_(1)])."),
            ("(https://a.org/?f=(g(x))).)", "(https://a.org/?…).)"),
            ("(see data:image/png;base64,AA==).", "(see data:…)."),
            ("https://a.org/?q=f(x) https://u:p@[::1]", "https://a.org/?… https://[::1]"),
            ("https://a.org/?q=a.b,c end", "https://a.org/?… end"),
            ("see DATA:image/png;base64,AAAA end", "see DATA:… end"), ("://", "://"), ("x://@?", "x://?…"),
            ("“https://a.org/?k=v” failed", "“https://a.org/?…” failed"),
            ("[https://a.org/x?token=…].", "[https://a.org/x?…]."), ("https://a.org/x?…: no", "https://a.org/x?…: no"),
            ("data:…: no", "data:…: no"), ("data:image/png,…: no", "data:…: no"),
        ])
    func redaction(text: String, expected: String) {
        #expect(Redaction.text(text) == expected)
    }
}
