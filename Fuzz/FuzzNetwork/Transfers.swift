// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import WebImageCore
import WebImageHTTP
import WebImageStore

@testable import WebImageNet
@testable import WebImageHTTPTesting

/// The targets of response heads, bodies, `data:` URLs, and resume data.
enum Transfers {
    static let targets = [
        FuzzTarget(
            "response-head", choiceCount: 1,
            seeds: {
                [
                    "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\nA: b\r\n c\r\n\r\n",
                    "HTTP/1.1 407 A\r\nProxy-Authenticate: Basic\r\n\r\nHTTP/2 304\r\nTransfer-Encoding: chunked\r\n\r\n",
                ].map { Data($0.utf8) }
            },
            dictionary: [
                "HTTP/1.1 ", "HTTP/2 ", "\r\n", "Content-Length: ", "Transfer-Encoding: chunked", "200", "103",
            ],
            run: responseHead),
        FuzzTarget(
            "server-request", choiceCount: 1,
            seeds: { [Data("PUT /a?b HTTP/1.1\r\nContent-Length: 3\r\nA: b\r\n\r\nabcGET / HTTP/1.0\r\n\r\n".utf8)] },
            dictionary: ["HTTP/1.1", "\r\n", "\r\n\r\n", "Content-Length: "], run: serverRequest),
        FuzzTarget("content-coding", run: contentCoding),
        FuzzTarget(
            text: "data-url", maxLength: 2_048,
            seeds: [
                "data:image/png;base64,iVBORw0KGgo=", "data:,a%20b#c", "DATA:text/plain;charset=a;base64 ,%41%41==",
            ],
            dictionary: [";base64", "%3D", "data:", ",", "=="], run: dataURL),
        FuzzTarget(
            "resume-file",
            seeds: {
                [
                    Data(
                        #"{"plan":{"head":{"statusCode":200,"headers":{"lines":[{"name":"a","value":"b"}]}},"#.utf8)
                        + Data(#""validator":"\"a\"","coding":"","total":9},"stored":7}abc"#.utf8)
                ]
            },
            dictionary: ["\"plan\":", "\"head\":", "\"total\":", "\"stored\":", "\"lines\":", "\"coding\":"],
            run: resumeFile),
        FuzzTarget(
            text: "url-credentials", maxLength: 256, seeds: ["see https://user:password@a.example/b@c?d=http://e@f"],
            dictionary: ["://", "@", "https", "/", "?", "#"]
        ) { text in
            let removed = URLCredentials.removed(from: text)
            require(URLCredentials.removed(from: removed) == removed, "Credentials remain in a text.")
            guard let parts = URLCredentials.split(text) else { return }
            require(URLCredentials.split(parts.url) == nil, "Credentials remain in a URL.")
            require(parts.credentials.utf8.last == UInt8(ascii: "@") || !parts.credentials.contains("/"))
        },
    ]

    /// Delivers lines to the parser as libcurl does.
    private static func responseHead(_ bytes: UnsafeRawBufferPointer) {
        var choices = FuzzChoices(bytes)
        var parser = ResponseHeadParser()
        parser.awaitsProxyChallenge = choices.isTrue()
        for line in choices.rest.split(separator: 10, omittingEmptySubsequences: false) {
            let result = Array(line + [10]).withUnsafeBytes { parser.receive($0) }
            switch result {
            case .complete(let head):
                require(head.statusCode >= 200 && parser.isComplete)
                check(head)
            case .malformed, .tooLarge, .tooManyLines: return
            case .more: break
            }
        }
        for head in parser.interim {
            require(head.statusCode < 200)
            check(head)
        }
    }

    private static func check(_ head: HTTPResponseHead) {
        for line in head.headers.lines {
            require(!line.name.isEmpty && line.name.utf8.allSatisfy(ResponseHeadParser.isTokenByte))
            require(!line.value.utf8.contains { $0 == 10 || $0 == 13 }, "A value has a line break.")
            require(line.value.unicodeScalars.allSatisfy { $0.value < 256 }, "A value isn't Latin-1.")
        }
        if case .known(let length) = head.bodyLength { require(length >= 0) }
        _ = head.isSelfDelimiting
        _ = ContentDecoder(head.headers, limit: 1)
        _ = PartialDownload.Validator(head, total: 100)
        _ = AuthenticationChallenge.all(head)
        _ = ContentTypeFilter.accepts(head, ["image/*"])
    }

    /// Passes requests to the loopback server as a whole and in pieces, and compares the results.
    private static func serverRequest(_ bytes: UnsafeRawBufferPointer) {
        var choices = FuzzChoices(bytes)
        let step = choices.number(in: 1...40)
        let data = choices.rest
        require(requests(data, step: data.count + 1) == requests(data, step: step), "Pieces change the requests.")
    }

    private static func requests(_ data: Data, step: Int) -> [RequestParser.Message] {
        var parser = RequestParser()
        var messages: [RequestParser.Message] = []
        for start in stride(from: 0, to: data.count, by: step) {
            parser.append(data.dropFirst(start).prefix(step))
            do {
                while let message = try parser.next() { messages.append(message) }
            } catch {
                break
            }
        }
        return messages
    }

    /// Decodes a body as a whole and in pieces, and compares the results.
    private static func contentCoding(_ bytes: UnsafeRawBufferPointer) {
        var choices = FuzzChoices(bytes)
        let codings = (0...choices.number(in: 0...2)).map { _ in choices.element(of: ["gzip", "deflate", "br", "zstd"])
        }
        let step = choices.number(in: 1...300)
        let data = choices.rest
        let fields: HTTPHeaderFields = ["Content-Encoding": codings.joined(separator: ", ")]
        let whole = decoded(data, fields, step: data.count + 1)
        let pieces = decoded(data, fields, step: step)
        guard let whole, let pieces else {
            return require(whole == pieces, "Pieces change whether a body is valid.")
        }
        require(whole == pieces, "Pieces change a body.")
    }

    private static func decoded(_ data: Data, _ fields: HTTPHeaderFields, step: Int) -> [UInt8]? {
        let limit = 1 << 18
        guard let decoder = ContentDecoder(fields, limit: limit) else {
            fatalError("A supported coding has no decoder.")
        }
        var output: [UInt8] = []
        do throws(ContentDecoder.Failure) {
            for start in stride(from: 0, to: data.count, by: step) {
                let piece = Array(data.dropFirst(start).prefix(step))
                try decode(piece, decoder, &output)
            }
            try decoder.finish { output.append(contentsOf: $0) }
        } catch {
            require(output.count <= limit, "The decoder produced more than its limit.")
            return nil
        }
        require(output.count <= limit, "The decoder produced more than its limit.")
        return output
    }

    private static func decode(
        _ piece: [UInt8], _ decoder: ContentDecoder, _ output: inout [UInt8]
    ) throws(ContentDecoder.Failure) {
        let result = piece.withUnsafeBytes { bytes in
            Result { () throws(ContentDecoder.Failure) in
                try decoder.decode(bytes) { output.append(contentsOf: $0) }
            }
        }
        try result.get()
    }

    private static func dataURL(_ text: String) {
        if let url = try? DataURL(text, maxBytes: 512) { require(url.body.count <= 512 && !url.type.isEmpty) }
        let data = Data(text.utf8)
        let written = "data:a/b;base64," + data.base64EncodedString()
        let read = try? DataURL(written, maxBytes: data.count)
        require(read?.body == data && read?.type == "a/b", "Base64 data changes.")
        let escaped = text.utf8.map { "%" + String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        require((try? DataURL("data:," + escaped, maxBytes: data.count))?.body == data, "Escaped data changes.")
    }

    /// Reads the input as a file with a valid digest, whose description is the part before the last closing brace.
    private static func resumeFile(_ bytes: UnsafeRawBufferPointer) {
        let data = Data(bytes)
        let length = data.lastIndex(of: UInt8(ascii: "}")).map { $0 + 1 } ?? 0
        var rest = Data((0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) })
        rest.append(data)
        let digest = ContentDigest(of: rest)
        let numbers = [digest.high, digest.low].flatMap { number in
            (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) }
        }
        for file in [data, Data("WIPART1\n".utf8) + numbers + rest] {
            guard let point = PartialDownloadFile.decode(file) else { continue }
            guard let again = PartialDownloadFile.encode(point).flatMap(PartialDownloadFile.decode) else {
                fatalError("Resume data can't be written and read again.")
            }
            require(again.bytes == point.bytes && again.plan == point.plan, "Resume data changes.")
            require(point.bytes.count < point.plan.total)
        }
    }
}
