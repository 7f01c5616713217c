// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP
import WebImageTestSupport

@testable import WebImageNet

func makeHead(_ status: Int = 200, _ fields: [(String, String)]) -> HTTPResponseHead {
    HTTPResponseHead(statusCode: status, headers: HTTPHeaderFields(fields.map { .init(name: $0.0, value: $0.1) }))
}

func makePoint(
    _ bytes: Data = Data(repeating: 1, count: 40), total: Int = 100, etag: String = "\"a\"", coding: String = "",
    stored: Date = Date()
) -> PartialDownload {
    let head = makeHead(200, [("ETag", etag), ("Content-Length", "\(total)"), ("Content-Type", "image/png")])
    let plan = PartialDownload.Validator(head: head, validator: etag, coding: coding, total: total)
    return PartialDownload(plan: plan, bytes: bytes, stored: stored)
}

@Suite("Resume plans of interrupted bodies")
struct ResumePlanTests {
    static let old = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test(
        "Only a strong validator is accepted",
        arguments: [
            ([("ETag", "\"a\"")], "\"a\""),
            ([("ETag", "W/\"a\"")], nil),
            ([("ETag", "a")], nil),
            ([("Last-Modified", old), ("Date", "Sun, 06 Nov 1994 08:50:37 GMT")], old),
            ([("Last-Modified", old), ("Date", "Sun, 06 Nov 1994 08:50:36 GMT")], nil),
            ([("Last-Modified", old)], nil),
            ([("Last-Modified", "yesterday"), ("Date", "Sun, 06 Nov 1994 08:50:37 GMT")], nil),
            ([("ETag", "W/\"a\""), ("Last-Modified", old), ("Date", "Sun, 06 Nov 1995 08:50:37 GMT")], nil),
            ([("ETag", "\"a\""), ("Last-Modified", old)], "\"a\""),
            ([], nil),
        ] as [([(String, String)], String?)])
    func validators(_ fields: [(String, String)], _ expected: String?) {
        #expect(PartialDownload.Validator.validator(makeHead(200, fields).headers) == expected)
    }

    @Test("A body isn't resumable with an unknown length, Accept-Ranges: none, or no-store")
    func plans() {
        let etag = ("ETag", "\"a\"")
        #expect(PartialDownload.Validator(makeHead(200, [etag]), total: 100)?.total == 100)
        #expect(PartialDownload.Validator(makeHead(200, [etag]), total: 1) == nil)
        #expect(PartialDownload.Validator(makeHead(203, [etag]), total: 100) == nil)
        #expect(PartialDownload.Validator(makeHead(200, [etag, ("Accept-Ranges", "None")]), total: 100) == nil)
        #expect(PartialDownload.Validator(makeHead(200, [etag, ("Cache-Control", "no-store")]), total: 100) == nil)
        let coded = PartialDownload.Validator(
            makeHead(200, [etag, ("Content-Encoding", " GZIP , identity")]), total: 100)
        #expect(coded?.coding == "gzip")
    }

    @Test("The merged head has the newer fields except those that describe the part")
    func merging() {
        let partial = makeHead(
            206,
            [
                ("Content-Range", "bytes 40-99/100"), ("Content-Length", "60"), ("Date", "new"), ("X-A", "1"),
                ("x-a", "2"),
            ])
        let merged = makePoint().plan.merged(with: partial)
        #expect(merged.statusCode == 200 && merged.headers["Content-Length"] == "100")
        #expect(merged.headers["Content-Range"] == nil && merged.headers["Date"] == "new")
        #expect(merged.headers.values(for: "X-A") == ["1", "2"] && merged.headers["Content-Type"] == "image/png")
    }
}

@Suite("State of a resumed transfer")
struct ResumeStateMachineTests {
    static let lies: [[(String, String)]] = [
        [],
        [("Content-Range", "bytes 0-99/100")],
        [("Content-Range", "bytes 39-99/100")],
        [("Content-Range", "bytes 41-99/100")],
        [("Content-Range", "bytes 40-98/100")],
        [("Content-Range", "bytes 40-99/101")],
        [("Content-Range", "bytes 40-100/101")],
        [("Content-Range", "bytes 40-100/100")],
        [("Content-Range", "bytes 40-98/*")],
        [("Content-Range", "bytes 99-40/100")],
        [("Content-Range", "pixels 40-99/100")],
        [("Content-Range", "bytes */100")],
        [("Content-Range", "40-99/100")],
        [("Content-Range", "bytes 40-99999999999999999999/100")],
        [("Content-Range", "bytes 40-99/100"), ("Content-Range", "bytes 0-99/100")],
        [("Content-Range", "bytes 40-99/100"), ("Content-Length", "59")],
        [("Content-Range", "bytes 40-99/100"), ("Content-Length", "100")],
        [("Content-Range", "bytes 40-99/100"), ("ETag", "\"b\"")],
        [("Content-Range", "bytes 40-99/100"), ("ETag", "W/\"a\"")],
        [("Content-Range", "bytes 40-99/100"), ("Content-Encoding", "gzip")],
        [("Content-Type", "multipart/byteranges; boundary=x")],
    ]

    @Test("Every range that wasn't requested is rejected", arguments: lies)
    func refused(_ fields: [(String, String)]) {
        var state = ResumeStateMachine(makePoint())
        guard case .refused = state.receiveHead(makeHead(206, fields)) else {
            Issue.record("the response was accepted: \(fields)")
            return
        }
        #expect(!state.isContinued && !state.isWorthKeeping)
    }

    @Test(
        "The requested range is accepted with or without its length",
        arguments: [
            [("Content-Range", "bytes 40-99/100"), ("Content-Length", "60")],
            [("Content-Range", "Bytes 40-99/100"), ("ETag", "\"a\""), ("Content-Encoding", "identity")],
            [("Content-Range", "bytes 40-99/*"), ("Transfer-Encoding", "chunked"), ("Content-Length", "1")],
        ])
    func taken(_ fields: [(String, String)]) {
        var state = ResumeStateMachine(makePoint())
        guard case .rest(let head) = state.receiveHead(makeHead(206, fields)) else {
            Issue.record("the response was rejected: \(fields)")
            return
        }
        #expect(head.statusCode == 200 && state.isContinued && state.position == 40)
        #expect(state.end() == .short(60) && state.isWorthKeeping)
        let tooFew = state.receiveBytes(59)
        #expect(tooFew && state.end() == .short(1) && state.isWorthKeeping)
        let all = state.receiveBytes(1)
        #expect(all && state.end() == .complete && !state.isWorthKeeping)
        let tooMany = state.receiveBytes(1)
        let absurd = state.receiveBytes(.max)
        #expect(!tooMany && !absurd)
    }

    @Test("N-16: A coded part is resumed only in the same coding, which a 206 response needn't repeat")
    func codings() {
        let range = ("Content-Range", "bytes 40-99/100")
        for (coding, isTaken) in [("gzip", true), (nil, true), ("br", false), ("identity", false)] {
            var state = ResumeStateMachine(makePoint(coding: "gzip"))
            let step = state.receiveHead(makeHead(206, [range] + (coding.map { [("Content-Encoding", $0)] } ?? [])))
            if case .rest = step { #expect(isTaken) } else { #expect(!isTaken) }
        }
    }

    @Test("A 200 response restarts, other statuses are passed on, and a caller's own Range is ignored")
    func others() {
        var whole = ResumeStateMachine(makePoint())
        let head = makeHead(200, [("ETag", "\"b\""), ("Content-Length", "70")])
        #expect(whole.receiveHead(head) == .whole)
        let isTaken = whole.receiveBytes(50)
        #expect(isTaken && whole.position == 50 && whole.isWorthKeeping && whole.plan?.total == 70)
        #expect(whole.plan?.validator == "\"b\"" && !whole.isContinued && whole.end() == .complete)
        for status in [204, 304, 404, 416, 503] {
            var state = ResumeStateMachine(makePoint())
            #expect(state.receiveHead(makeHead(status, [])) == .other && !state.isWorthKeeping)
        }
        var foreign = ResumeStateMachine(nil, isForeign: true)
        #expect(foreign.receiveHead(makeHead(206, [("Content-Range", "bytes 5-9/10"), ("ETag", "\"a\"")])) == .other)
        var unasked = ResumeStateMachine(nil)
        #expect(unasked.receiveHead(makeHead(206, [("Content-Range", "bytes 0-9/10")])) == .whole)
        guard case .refused = unasked.receiveHead(makeHead(206, [("Content-Range", "bytes 0-8/10")])) else {
            Issue.record("a part was accepted as the complete body")
            return
        }
    }

    @Test("A body that is reported as complete is always exactly one version of the resource")
    func model() {
        var generator = SeededGenerator(seed: 28)
        for _ in 0..<3_000 {
            var server = ModelServer(&generator)
            var point: PartialDownload?
            var isAskingWhole = false
            for _ in 0..<12 {
                if Int.random(in: 0..<6, using: &generator) == 0 { server.change(&generator) }
                let asked = isAskingWhole ? nil : point
                isAskingWhole = false
                var state = ResumeStateMachine(asked)
                let answer = server.response(asked, &generator)
                let step = state.receiveHead(answer.head)
                var body = Data()
                switch step {
                case .rest: body = asked?.bytes ?? Data()
                case .whole: break
                case .refused, .other:
                    (point, isAskingWhole) = (nil, true)
                    continue
                }
                let taken = state.receiveBytes(answer.body.count)
                body += answer.body
                if answer.isCut || (taken && state.end() != .complete) {
                    point = state.plan.flatMap {
                        state.isWorthKeeping ? PartialDownload(plan: $0, bytes: body, stored: Date()) : nil
                    }
                } else if taken {
                    #expect(server.versions.contains(body), "the body belongs to no version")
                    break
                } else {
                    point = nil
                }
            }
        }
    }
}

/// A server that changes its resource, truncates responses, and sends wrong ranges in all detectable ways.
private struct ModelServer {
    struct Response {
        var head: HTTPResponseHead
        var body: Data
        var isCut: Bool
    }

    private(set) var versions: [Data] = []

    init(_ generator: inout SeededGenerator) { change(&generator) }

    mutating func change(_ generator: inout SeededGenerator) {
        let count = Int.random(in: 2..<60, using: &generator)
        versions.append(Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }))
    }

    func response(_ point: PartialDownload?, _ generator: inout SeededGenerator) -> Response {
        let whole = versions[versions.count - 1]
        let etag = "\"\(versions.count)\""
        var fields = [("ETag", etag)]
        var body = whole
        var status = 200
        if let point, point.plan.validator == etag, Int.random(in: 0..<5, using: &generator) > 0 {
            status = 206
            let start = point.bytes.count + [0, 0, 0, -1, 1][Int.random(in: 0..<5, using: &generator)]
            let first = min(max(start, 0), whole.count - 1)
            let total = whole.count + [0, 0, 0, 1][Int.random(in: 0..<4, using: &generator)]
            fields.append(("Content-Range", "bytes \(first)-\(whole.count - 1)/\(total)"))
            body = whole.suffix(from: first)
            if Int.random(in: 0..<8, using: &generator) == 0 { body += Data([1]) }
            if Int.random(in: 0..<8, using: &generator) == 0 { body = body.dropLast() }
        } else if point != nil, Int.random(in: 0..<8, using: &generator) == 0 {
            return Response(head: makeHead(416, []), body: Data(), isCut: false)
        }
        let isCut = Int.random(in: 0..<3, using: &generator) > 0
        if status == 200 { fields.append(("Content-Length", "\(whole.count)")) }
        if isCut { body = body.prefix(Int.random(in: 0...(max(body.count, 1) - 1), using: &generator)) }
        return Response(head: makeHead(status, fields), body: Data(body), isCut: isCut)
    }
}
