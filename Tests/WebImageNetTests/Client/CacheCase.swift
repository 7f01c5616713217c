// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP
import WebImageNet

/// A rule of HTTP caching as a list of exchanges: what is asked, what the server would answer, and what must come out.
struct CacheCase: Sendable, CustomTestStringConvertible {
    let name: String
    let policy: HTTPCachePolicy
    let steps: [Step]

    init(_ name: String, policy: HTTPCachePolicy = .standard, _ steps: [Step]) {
        self.name = name
        self.policy = policy
        self.steps = steps
    }

    var testDescription: String { name }
}

/// One exchange of a case.
struct Step: Sendable {
    /// Where the answer must come from, and with it whether the server must be asked.
    enum Expected: Sendable {
        case network
        case cache
        case revalidated
        /// Stale, without asking first.
        case stale
        /// Stale, because asking failed.
        case staleAfterFailure
        /// The error of a lost connection.
        case failure
    }

    let expected: Expected
    var method = "GET"
    var reply: String
    var after: Double
    var request: String
    var path: String
    var mode: HTTPCacheMode
    var redirect: HTTPRequest.RedirectMode
    /// Nil: 200, or what the reply says.
    var status: Int?
    /// Expected body; nil: that of the step `of`, or the last one that came from the server.
    var body: String?
    var of: Int?
    /// Body of the reply; nil: `answer` and the step's number.
    var sends: String?
    /// Fields that the server must see, `!Name` for those it must not.
    var saw: String
    /// Fields that the answer must have, `!Name` for those it must not.
    var has: String
    /// Whether what is asked behind must have ended before the next step.
    var settles: Bool

    /// A GET. Fields are written `Name: value | Name: value`; `@Name: seconds` is a date that far from the present.
    static func get(
        _ expected: Expected, _ reply: String = "200", after: Double = 0, with request: String = "",
        path: String = "/a", mode: HTTPCacheMode = .default, redirect: HTTPRequest.RedirectMode = .manual,
        status: Int? = nil, body: String? = nil, of: Int? = nil, sends: String? = nil, saw: String = "",
        has: String = "", settles: Bool = false
    ) -> Step {
        Step(
            expected: expected, reply: reply, after: after, request: request, path: path, mode: mode,
            redirect: redirect, status: status, body: body, of: of, sends: sends, saw: saw, has: has, settles: settles)
    }

    /// Another method; it always reaches the server unless told otherwise.
    static func ask(
        _ method: String, _ expected: Expected = .network, _ reply: String = "200", after: Double = 0,
        with request: String = "", path: String = "/a", status: Int? = nil, body: String? = nil,
        sends: String? = nil, saw: String = "", has: String = ""
    ) -> Step {
        var step = get(
            expected, reply, after: after, with: request, path: path, status: status, body: body, sends: sends,
            saw: saw, has: has)
        step.method = method
        return step
    }
}

/// A scripted answer of the server.
struct Reply: Sendable {
    var status: Int
    var fields: HTTPFields
    var body: Data

    /// `200 | Name: value`; nil for `lost`.
    init?(_ text: String, body: Data, now: Date) {
        let parts = text.components(separatedBy: " | ")
        guard let status = Int(parts[0]) else { return nil }
        self.status = status
        self.fields = Self.fields(parts.dropFirst().joined(separator: " | "), now: now)
        self.body = status == 304 || status == 204 ? Data() : body
    }

    static func fields(_ text: String, now: Date) -> HTTPFields {
        guard !text.isEmpty else { return HTTPFields() }
        return HTTPFields(
            text.components(separatedBy: " | ").map { line in
                let colon = line.firstIndex(of: ":") ?? line.endIndex
                let name = String(line[..<colon])
                let value = line[colon...].dropFirst().trimmingCharacters(in: .whitespaces)
                guard name.hasPrefix("@") else { return .init(name: name, value: value) }
                return .init(
                    name: String(name.dropFirst()),
                    value: HTTPDate.format(now.addingTimeInterval(Double(value) ?? 0)))
            })
    }
}
