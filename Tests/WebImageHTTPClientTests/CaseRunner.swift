// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPCases
import WebImageHTTPClient
import WebImageNet
import WebImageTestSupport

/// A server that sends the response of the current step and records the requests.
protocol ScriptedServer: Sendable {
    var transport: any HTTPTransport { get }
    func url(_ path: String) -> URL
    /// Sets the response to later requests. `nil` means that the connection is lost.
    func prepare(_ reply: CacheCase.Reply?)
    /// The requests received since ``prepare(_:)``.
    var seen: [RequestHead] { get }
}

/// Runs a case step by step.
struct CaseRunner {
    let client: HTTPClient
    let server: any ScriptedServer
    let calendar: ManualCalendar

    init(_ policy: HTTPCachePolicy, _ server: any ScriptedServer, _ calendar: ManualCalendar) {
        var configuration = HTTPClient.Configuration()
        configuration.cachePolicy = policy
        configuration.now = { calendar.now }
        client = HTTPClient(configuration: configuration, transport: server.transport)
        self.server = server
        self.calendar = calendar
    }

    func run(_ subject: CacheCase) async {
        var lastBody: [String: String] = [:]
        for (index, step) in subject.steps.enumerated() {
            calendar.advance(by: step.after)
            let sent = step.sends ?? "answer \(index)"
            let reply = CacheCase.Reply(step.reply, body: Data(sent.utf8), now: calendar.now)
            server.prepare(reply)
            let location = Comment(rawValue: "\(subject.name): step \(index)")
            let answer = await response(to: step)
            if step.settles { await client.shutdown() }
            guard step.expected != .failure else {
                #expect(answer == nil, location)
                continue
            }
            guard let answer else {
                Issue.record("\(subject.name), step \(index): no response")
                continue
            }
            check(answer, step, reply, location)
            if step.expected == .network, step.method == "GET", answer.statusCode != 304, answer.statusCode != 206 {
                lastBody[step.path] = sent
            }
            let expected = step.body ?? step.of.map { "answer \($0)" } ?? lastBody[step.path]
            if step.method == "GET", ![204, 206, 304, 416, 504].contains(answer.statusCode) || step.body != nil {
                #expect(String(decoding: answer.body, as: UTF8.self) == expected, location)
            }
        }
    }

    private func response(to step: CacheCase.Step) async -> HTTPClient.Response? {
        var request = HTTPClient.Request(
            url: server.url(step.path), method: step.method,
            headers: CacheCase.Reply.headers(step.request, now: calendar.now))
        request.cacheMode = step.mode
        request.redirectMode = step.redirect
        if step.method == "POST" { request.body = Data("posted".utf8) }
        do throws(ImageError) {
            return try await client.fetch(request)
        } catch {
            if step.expected != .failure { Issue.record("\(error)") }
            return nil
        }
    }

    private func check(
        _ answer: HTTPClient.Response, _ step: CacheCase.Step, _ reply: CacheCase.Reply?, _ location: Comment
    ) {
        let sources: [HTTPClient.Response.Source] =
            switch step.expected {
            case .network: [.network]
            case .cache: [.cache]
            case .revalidated: [.revalidated]
            case .stale, .staleAfterFailure: [.stale]
            case .failure: []
            }
        #expect(sources.contains(answer.source), location)
        let seen = server.seen
        switch step.expected {
        case .network, .revalidated, .staleAfterFailure: #expect(!seen.isEmpty, location)
        case .cache: #expect(seen.isEmpty, location)
        case .stale: if !step.settles { #expect(seen.count <= 1, location) }
        case .failure: break
        }
        let status = step.status ?? (step.expected == .network ? reply?.status : 200)
        #expect(answer.statusCode == status, location)
        expect(answer.headers, step.has, location)
        if !step.saw.isEmpty { expect(seen.last?.headers ?? HTTPHeaderFields(), step.saw, location) }
    }

    private func expect(_ fields: HTTPHeaderFields, _ wanted: String, _ location: Comment) {
        for line in wanted.isEmpty ? [] : wanted.components(separatedBy: " | ") {
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

/// An in-process server.
final class InProcessServer: ScriptedServer, HTTPTransport {
    private struct State {
        var reply: CacheCase.Reply?
        var seen: [RequestHead] = []
    }

    private let state = Shared(State())
    private let calendar: ManualCalendar

    init(_ calendar: ManualCalendar) { self.calendar = calendar }

    var transport: any HTTPTransport { self }
    func url(_ path: String) -> URL { URL(string: "http://example.org\(path)") ?? URL(filePath: "/") }
    func prepare(_ reply: CacheCase.Reply?) { state.value = State(reply: reply) }
    var seen: [RequestHead] { state.value.seen }

    func send(_ request: TransferRequest, context: LoadContext) async throws(ImageError) -> TransferResponse {
        let reply = state.update { state in
            state.seen.append(RequestHead(method: request.method, headers: request.headers))
            return state.reply
        }
        guard let reply else {
            throw .network(
                ImageError.NetworkFailure(.connectionLost, url: request.failureURL, phase: .waitingForResponse))
        }
        return TransferResponse(
            head: HTTPResponseHead(statusCode: reply.status, headers: reply.headers),
            body: request.method == "HEAD" ? Data() : reply.body, requestTime: calendar.now,
            responseTime: calendar.now)
    }
}
