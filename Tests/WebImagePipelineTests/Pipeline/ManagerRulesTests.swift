// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageHTTPCases
import WebImageHTTPClient
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

/// A coder that decodes any data to one pixel.
private struct AnyDataCoder: ImageCoder {
    func canDecode(_ format: ImageFormat?, prefix: Data) -> Bool { true }

    func decode(_ data: Data, info: ImageInfo?, options: ImageDecodingOptions, context: ImageProcessingContext)
        throws(ImageError) -> DecodedImage
    {
        DecodedImage(pixels: try PixelCanvas(size: PixelSize(width: 1, height: 1)).finish(isOpaque: false))
    }
}

/// Tests of the HTTP caching rules with a manager instead of the HTTP client.
@Suite("HTTP caching rules with a manager", .serialized, .timeLimit(.minutes(5)))
struct ManagerRulesTests {
    /// The rules that apply to a manager. It sends only GET requests, follows redirects, and sets ranges and
    /// conditions itself.
    static let cases = HTTPCases.all.filter { subject in
        subject.steps.allSatisfy(\.isAskable) && !unplayable.contains { subject.name.hasPrefix($0) }
    }

    /// The prefixes of the names of rules that have a different meaning for a manager.
    private static let unplayable = [
        // The loopback server adds its own header fields.
        "Connection header fields", "A 304 never changes Content-Length",
        // A manager doesn't use the body of a server error as an image.
        "Status 5",
        // A manager that refreshes revalidates every image.
        "Refreshing a fresh and immutable response needs no request",
        // A manager always separates requests with different credentials.
        "Responses for different credentials are shared",
    ]

    @Test("Each rule holds for a manager", arguments: cases)
    func rule(subject: CacheCase) async throws {
        try await ManagerRuleRunner(subject).run()
    }

    @Test("At least 80 rules apply, and every excluded prefix matches a rule")
    func names() {
        #expect(Self.cases.count >= 80)
        for beginning in Self.unplayable { #expect(HTTPCases.all.contains { $0.name.hasPrefix(beginning) }) }
    }
}

extension CacheCase.Step {
    /// A Boolean value that indicates whether a manager can perform this step.
    fileprivate var isAskable: Bool {
        guard method == "GET", redirect == .manual, sends != "", body != "" else { return false }
        // A manager that refreshes returns the cached image if the server fails.
        if mode == .noCache, reply == "lost" { return false }
        let names = CacheCase.Reply.headers(request, now: Date()).lines.map { $0.name.lowercased() }
        guard !names.contains(where: { $0 == "range" || $0.hasPrefix("if-") }) else { return false }
        guard let reply = CacheCase.Reply(reply, body: Data(), now: Date()) else { return true }
        // The loopback server and the transport control the framing and the coding of bodies.
        let framing = ["Content-Length", "Content-Encoding", "Transfer-Encoding", "Content-Range"]
        let isFramed = framing.contains { reply.headers[$0] != nil }
        return reply.status == 304
            || !isFramed && ![204, 206].contains(reply.status) && !(..<200 ~= reply.status)
                && !(300..<400 ~= reply.status)
    }

    /// Returns a Boolean value that indicates whether a manager returns no data for this step. It never returns the
    /// bodies of errors.
    fileprivate func isFailure(_ reply: CacheCase.Reply?) -> Bool {
        if expected == .failure { return true }
        let status = status ?? (expected == .network ? reply?.status : 200)
        return status.map { $0 == 304 || $0 >= 500 } ?? true
    }
}

/// A runner that performs the steps of a rule with a manager.
private struct ManagerRuleRunner {
    private struct Script {
        var reply: CacheCase.Reply?
        var seen: [LoopbackServer.Request] = []
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
            return LoopbackServer.Response(statusCode: reply.status, headers: reply.headers, body: reply.body)
        }
        fixture = try ManagerFixture {
            $0.httpCachePolicy = subject.policy
            $0.now = { calendar.now }
            $0.failureLifetime = { _ in nil }
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
            // Wait, because data in use would serve the next request regardless of the rule for storing.
            await fixture.manager.letsGo(of: request(step))
            let location = Comment(
                rawValue: "\(subject.name): step \(index), \(error.map { "\($0)" } ?? "no error")")
            let isFailure = step.isFailure(reply)
            if step.expected == .network, !isFailure { latest[step.path] = sent }
            let expected = step.body ?? step.of.map { "answer \($0)" } ?? latest[step.path]
            #expect(data.map { String(decoding: $0, as: UTF8.self) } == (isFailure ? nil : expected), location)
            check(step, location)
        }
        await fixture.manager.shutdown()
    }

    /// Waits for the background work.
    private func settle() async {
        await fixture.manager.rest()
        await passing()
        await fixture.manager.rest()
    }

    private func request(_ step: CacheCase.Step) -> ImageRequest {
        var request = ImageRequest(url: server.url(step.path))
        request.coder = AnyDataCoder()
        request.network.acceptableStatusCodes = Set(200...499)
        request.headers = CacheCase.Reply.headers(step.request, now: calendar.now)
        // As with the HTTP client, only `Vary` separates the responses.
        request.caching.keyHeaders = []
        switch step.mode {
        case .default: break
        case .noCache: request.cachePolicy = .refresh
        case .reload: request.cachePolicy = .reload
        case .forceCache: request.cachePolicy = .cacheFirst
        case .onlyIfCached: request.cachePolicy = .cacheOnly
        case .noStore:
            request.caching.originalReadFrom = []
            request.caching.originalWriteTo = []
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
        let fields = seen.last?.headers ?? HTTPHeaderFields()
        for line in step.saw.components(separatedBy: " | ") {
            if line.hasPrefix("!") {
                #expect(fields[String(line.dropFirst())] == nil, location)
            } else {
                for field in CacheCase.Reply.headers(line, now: calendar.now).lines {
                    #expect(fields.combined(field.name) == field.value, location)
                }
            }
        }
    }
}
