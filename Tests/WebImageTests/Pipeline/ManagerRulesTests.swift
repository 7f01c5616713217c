// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageTestSupport
import WebImageTesting

/// Gives one pixel for any data.
private struct AnyDataCoder: ImageCoder {
    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { true }

    func decode(_ data: Data, probe: ImageProbe?, options: DecodeOptions, context: CodingContext)
        throws(ImageError) -> Image
    {
        Image(pixels: try PixelCanvas(size: PixelSize(width: 1, height: 1)).finish(isOpaque: false))
    }
}

/// The rules of HTTP caching, asked through a manager instead of the HTTP client.
@Suite("Rules of HTTP caching, through the manager", .serialized, .timeLimit(.minutes(2)))
struct ManagerRulesTests {
    /// The rules that can be asked of a manager: it sends GET only, follows redirects, and sets ranges and conditions
    /// itself.
    static let cases = HTTPCases.all.filter { subject in
        subject.steps.allSatisfy(\.isAskable) && !unplayable.contains { subject.name.hasPrefix($0) }
    }

    /// Beginnings of the names of rules that mean something else here.
    private static let unplayable = [
        // The loopback server adds fields of its own.
        "Fields of the connection", "A 304 never changes Content-Length",
        // A manager takes no body of a server's error for an image.
        "Status 5", "Of status 5",
        // A manager always keeps people apart.
        "Credentials keep nothing apart", "Cookies select only where Vary says so",
    ]

    /// Rules that the manager breaks, and how.
    static let broken = [
        "Refreshing what is fresh and immutable needs no request": "the server is asked"
    ]

    @Test("Each rule holds through the manager", arguments: cases)
    func rule(subject: CacheCase) async throws {
        try await knownWrongResult(Self.broken[subject.name].map { "\($0): \(subject.name)" }) {
            try await ManagerRuleRunner(subject).run()
        }
    }

    @Test("Many rules are asked, and every exception names one of them")
    func names() {
        #expect(Self.cases.count >= 80)
        #expect(Set(Self.broken.keys).isSubset(of: Self.cases.map(\.name)))
    }
}

extension CacheCase.Step {
    /// A Boolean value that indicates whether a manager can be asked this.
    fileprivate var isAskable: Bool {
        guard method == "GET", redirect == .manual, sends != "", body != "" else { return false }
        // A manager that refreshes shows the cached image if the server fails.
        if mode == .noCache, reply == "lost" { return false }
        let names = CacheCase.Reply.fields(request, now: Date()).lines.map { $0.name.lowercased() }
        guard !names.contains(where: { $0 == "range" || $0.hasPrefix("if-") }) else { return false }
        guard let reply = CacheCase.Reply(reply, body: Data(), now: Date()) else { return true }
        // The loopback server and the transport have their own ideas of the framing and coding of bodies.
        let framing = ["Content-Length", "Content-Encoding", "Transfer-Encoding", "Content-Range"]
        let isFramed = framing.contains { reply.fields[$0] != nil }
        return reply.status == 304
            || !isFramed && ![204, 206].contains(reply.status) && !(..<200 ~= reply.status)
                && !(300..<400 ~= reply.status)
    }

    /// A Boolean value that indicates whether a manager has no data to give. It doesn't give the bodies of errors.
    fileprivate func isFailure(_ reply: CacheCase.Reply?) -> Bool {
        if expected == .failure { return true }
        let status = status ?? (expected == .network ? reply?.status : 200)
        return status.map { $0 == 304 || $0 >= 500 } ?? true
    }
}

/// Asks a manager step by step.
private struct ManagerRuleRunner {
    private struct Script {
        var reply: CacheCase.Reply?
        var seen: [RecordedRequest] = []
    }

    private let subject: CacheCase
    private let calendar = ManualCalendar()
    private let script = Shared(Script())
    private let server: LoopbackServer
    private let fixture: ManagerFixture

    init(_ subject: CacheCase) throws {
        self.subject = subject
        let (script, calendar) = (script, calendar)
        server = try LoopbackServer { request in
            let reply = script.update { script in
                script.seen.append(request)
                return script.reply
            }
            guard let reply else { return .raw(Data()) }
            return ServerResponse(status: reply.status, fields: reply.fields, body: reply.body)
        }
        fixture = try ManagerFixture {
            $0.cache.http = subject.policy
            $0.now = { calendar.now }
            $0.failures = .none
            $0.downloader.retry = .never
            $0.downloader.resume = nil
        }
    }

    func run() async throws {
        var latest: [String: String] = [:]
        for (index, step) in subject.steps.enumerated() {
            calendar.advance(by: step.after)
            let sent = step.sends ?? "answer \(index)"
            let reply = CacheCase.Reply(step.reply, body: Data(sent.utf8), now: calendar.now)
            script.value = Script(reply: reply)
            var data: Data?
            var error: ImageError?
            do throws(ImageError) {
                data = try await fixture.manager.data(for: request(step))
            } catch let failure {
                error = failure
            }
            if step.settles { await settle() }
            // Data that is still in use would answer the next request, whatever the rule says of stores.
            await fixture.manager.letsGo(of: request(step))
            let location = Comment(
                rawValue: "\(subject.name): step \(index), \(error.map { "\($0)" } ?? "no error")")
            let isFailure = step.isFailure(reply)
            if step.expected == .network, !isFailure { latest[step.path] = sent }
            let expected = step.body ?? step.of.map { "answer \($0)" } ?? latest[step.path]
            #expect(data.map { String(decoding: $0, as: UTF8.self) } == (isFailure ? nil : expected), location)
            check(step, location)
        }
        await fixture.manager.close()
    }

    /// Waits for what goes on in the background.
    private func settle() async {
        await fixture.manager.rest()
        await passing()
        await fixture.manager.rest()
    }

    private func request(_ step: CacheCase.Step) -> ImageRequest {
        var request = ImageRequest(server.url(step.path))
        request.coder = AnyDataCoder()
        request.network.acceptedStatuses = .range(200...499)
        request.fields = CacheCase.Reply.fields(step.request, now: calendar.now)
        // As for the HTTP client, Vary alone separates the responses.
        request.varyingFields = []
        switch step.mode {
        case .default: break
        case .noCache: request.cachePolicy = .refresh
        case .reload: request.cachePolicy = .reload
        case .forceCache: request.cachePolicy = .cacheFirst
        case .onlyIfCached: request.cachePolicy = .cacheOnly
        case .noStore:
            request.originalReads = []
            request.originalStores = []
        }
        return request
    }

    private func check(_ step: CacheCase.Step, _ location: Comment) {
        let seen = script.value.seen
        switch step.expected {
        case .network, .revalidated, .staleAfterFailure: #expect(!seen.isEmpty, location)
        case .cache: #expect(seen.isEmpty, location)
        case .stale: if !step.settles { #expect(seen.count <= 1, location) }
        case .failure: break
        }
        guard !step.saw.isEmpty else { return }
        let fields = seen.last?.fields ?? HTTPFields()
        for line in step.saw.components(separatedBy: " | ") {
            if line.hasPrefix("!") {
                #expect(fields[String(line.dropFirst())] == nil, location)
            } else {
                for field in CacheCase.Reply.fields(line, now: calendar.now).lines {
                    #expect(fields.combined(field.name) == field.value, location)
                }
            }
        }
    }
}
