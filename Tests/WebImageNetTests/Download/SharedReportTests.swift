// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP

@testable import WebImageNet

@Suite("Reports of a shared load")
struct SharedReportTests {
    private let relay = ReportRelay()
    private let log = ReportLog()
    private let head = LoadContext.Report.head(HTTPResponseHead(statusCode: 200), expected: 4)
    private let parts = [Data("ab".utf8), Data("cd".utf8)]

    private var response: LoadResponse {
        let now = Date(timeIntervalSince1970: 0)
        return LoadResponse(
            httpResponse: HTTPResponseHead(statusCode: 200), body: Data("abcd".utf8), url: URL(filePath: "/"),
            requestDate: now,
            responseDate: now)
    }

    @Test("A caller that joins at the start receives each report once and nothing extra at the end")
    func early() throws {
        let listener = try #require(ReportListener(observing: log.context()))
        for report in [.started, head, .body(parts[0]), .body(parts[1])] { listener.receive(relay.next(report)) }
        listener.complete(response)
        #expect(log.started == 1 && log.status == 200 && log.body == response.body && log.parts == 2)
    }

    @Test("A caller that joins before the body receives the missed reports and then the chunks of the body")
    func beforeBody() throws {
        let listener = try #require(ReportListener(observing: log.context()))
        _ = relay.next(.started)
        for report in [head, .body(parts[0]), .body(parts[1])] { listener.receive(relay.next(report)) }
        listener.complete(response)
        #expect(log.started == 1 && log.status == 200 && log.body == response.body && log.parts == 2)
    }

    @Test("A caller that joins during the body receives the head immediately and the body as one chunk")
    func duringBody() throws {
        let listener = try #require(ReportListener(observing: log.context()))
        for report in [.started, head] { _ = relay.next(report) }
        listener.receive(relay.next(.body(parts[0])))
        #expect(log.started == 1 && log.status == 200 && log.parts == 0)
        listener.receive(relay.next(.body(parts[1])))
        listener.complete(response)
        #expect(log.body == response.body && log.parts == 1)
    }

    @Test("A restarted body is reported in chunks, even to a caller that missed its first start")
    func again() throws {
        let listener = try #require(ReportListener(observing: log.context()))
        for report in [.started, head] { _ = relay.next(report) }
        for report in [.body(parts[0]), head, .body(parts[0]), .body(parts[1])] { listener.receive(relay.next(report)) }
        listener.complete(response)
        #expect(log.body == response.body && log.parts == 2)
    }

    @Test("Without reports from the loader, a caller receives the head and the body at the end")
    func withoutReports() throws {
        let listener = try #require(ReportListener(observing: log.context()))
        for report in [.started, head, .body(parts[0])] { listener.receive(relay.next(report)) }
        listener.beginSource()
        listener.complete(response)
        #expect(log.started == 1 && log.status == 200 && log.body == response.body && log.parts == 2)
    }

    @Test("A context that doesn't want reports needs no listener")
    func unobserved() { #expect(ReportListener(observing: LoadContext()) == nil) }
}
