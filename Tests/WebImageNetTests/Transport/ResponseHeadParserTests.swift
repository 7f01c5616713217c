// SPDX-License-Identifier: MIT

import Testing
import WebImageHTTP

@testable import WebImageNet

@Suite("Response head parser")
struct ResponseHeadParserTests {
    /// Returns the parser's steps for all lines of `text`.
    private func steps(_ text: String, _ parser: inout ResponseHeadParser) -> [ResponseHeadParser.Step] {
        var lines: [[UInt8]] = [[]]
        for byte in text.utf8 {
            lines[lines.count - 1].append(byte)
            if byte == 10 { lines.append([]) }
        }
        return lines.filter { !$0.isEmpty }.map { line in line.withUnsafeBytes { parser.receive($0) } }
    }

    private func parse(_ text: String) -> HTTPResponseHead? {
        var parser = ResponseHeadParser()
        guard case .complete(let head) = steps(text, &parser).last else { return nil }
        return head
    }

    @Test("Names, values, repeats, and order are kept, and whitespace around values is removed")
    func plain() throws {
        let head = try #require(parse("HTTP/1.1 200 OK\r\nA: 1\r\nb:\t2 \r\nA:3\r\nEmpty:\r\nC: x: y\r\n\r\n"))
        #expect(head.statusCode == 200)
        #expect(head.headers.lines.map { "\($0.name)=\($0.value)" } == ["A=1", "b=2", "A=3", "Empty=", "C=x: y"])
    }

    @Test("Status lines of HTTP/2, without a reason, and with bare line feeds are parsed")
    func statusLines() {
        #expect(parse("HTTP/2 404 \r\n\r\n")?.statusCode == 404)
        #expect(parse("HTTP/1.0 200\r\n\r\n")?.statusCode == 200)
        #expect(parse("HTTP/1.1 599 a b c\n\n")?.statusCode == 599)
    }

    @Test("Folded lines are joined, invalid names are dropped, and bytes are Latin-1")
    func oddities() throws {
        let head = try #require(
            parse("HTTP/1.1 200 OK\r\nA: 1\r\n  2\r\nB C: 3\r\n: 4\r\nnothing\r\nD: \u{e9}\r\n\r\n"))
        #expect(head.headers.lines.map { "\($0.name)=\($0.value)" } == ["A=1 2", "D=\u{c3}\u{a9}"])
    }

    @Test("Interim heads are dropped, trailers are ignored, and a head is complete after its empty line")
    func order() {
        var parser = ResponseHeadParser()
        #expect(steps("HTTP/1.1 103 Early\r\nA: 1\r\n\r\n", &parser).allSatisfy { $0 == .more })
        #expect(!parser.isComplete)
        let final = steps("HTTP/1.1 200 OK\r\nB: 1\r\n\r\n", &parser).last
        #expect(
            final
                == .complete(
                    HTTPResponseHead(statusCode: 200, headers: HTTPHeaderFields([.init(name: "B", value: "1")]))))
        #expect(parser.isComplete)
        #expect(steps("C: 1\r\n\r\n", &parser).allSatisfy { $0 == .more })
    }

    @Test("Lines over the limit and empty lines without a status are rejected")
    func refusals() {
        var parser = ResponseHeadParser()
        #expect(steps("\r\n", &parser) == [.malformed])
        parser.reset()
        #expect(steps("HTTP/1.1 2x0 OK\r\n\r\n", &parser).last == .malformed)
        parser.reset()
        let long = "A: " + String(repeating: "a", count: ResponseHeadParser.limit)
        #expect(steps("HTTP/1.1 200 OK\r\n\(long)\r\n\r\n", &parser)[1] == .tooLarge)
    }

    @Test(
        "Content-Length is parsed strictly",
        arguments: [
            (["5"], HTTPResponseHead.BodyLength.known(5)), (["5", "5"], .known(5)), (["5, 5"], .known(5)),
            (["5", "6"], .invalid), (["5, 6"], .invalid), ([], .unknown), (["x"], .invalid),
            (["-1"], .invalid), (["5;"], .invalid), (["+5"], .invalid), (["5,"], .invalid), ([" 5\t"], .known(5)),
            (["99999999999999999999"], .known(.max)),
        ])
    func lengths(values: [String], expected: HTTPResponseHead.BodyLength) {
        let fields = HTTPHeaderFields(values.map { .init(name: "content-length", value: $0) })
        #expect(HTTPResponseHead(statusCode: 200, headers: fields).bodyLength == expected)
    }

    @Test(
        "A length counts next to the transfer coding `identity`, and not next to another one",
        arguments: [
            (["identity"], HTTPResponseHead.BodyLength.known(5), true, true), ([], .known(5), false, true),
            (["Identity", " identity\t"], .known(5), true, true), ([","], .known(5), true, true),
            (["chunked"], .unknown, false, true), (["identity, Chunked"], .unknown, false, true),
            (["chunked", "identity"], .unknown, false, true), (["gzip"], .unknown, false, false),
            (["identity;q=1"], .unknown, false, false), (["identity chunked"], .unknown, false, false),
        ])
    func codings(values: [String], length: HTTPResponseHead.BodyLength, isIgnored: Bool, isDelimiting: Bool) {
        var fields = HTTPHeaderFields(values.map { .init(name: "transfer-encoding", value: $0) })
        fields["Content-Length"] = "5"
        let head = HTTPResponseHead(statusCode: 200, headers: fields)
        #expect(head.bodyLength == length && head.hasIgnoredLength == isIgnored)
        #expect(head.isSelfDelimiting == isDelimiting)
        fields["Content-Length"] = nil
        let open = HTTPResponseHead(statusCode: 200, headers: fields)
        #expect(open.isSelfDelimiting == (isDelimiting && length == .unknown))
    }

    @Test("Random bytes never crash the parser")
    func noise() {
        var generator = SeededGenerator(seed: 5)
        let alphabet = Array("HTTP/1.1 200\r\n\r\n:: \tabc\u{0}\u{e9}".utf8)
        for _ in 0..<5_000 {
            var parser = ResponseHeadParser()
            for _ in 0..<10 {
                let line = (0..<Int.random(in: 0..<30, using: &generator)).map { _ in
                    alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
                }
                _ = line.withUnsafeBytes { parser.receive($0) }
            }
            #expect(parser.received <= 300)
        }
    }
}
