// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP
import WebImageNet

/// A rule of HTTP caching as a list of exchanges: what is asked, what the server would answer, and what must come out.
public struct CacheCase: Sendable, CustomStringConvertible {
    /// The name of the rule; no two rules have the same name.
    public let name: String
    /// The policy of the cache.
    public let policy: HTTPCachePolicy
    /// The exchanges in their order.
    public let steps: [Step]

    init(_ name: String, policy: HTTPCachePolicy = .standard, _ steps: [Step]) {
        self.name = name
        self.policy = policy
        self.steps = steps
    }

    /// The name of the rule.
    public var description: String { name }
}

/// All rules.
public enum HTTPCases {
    /// Every rule of the table.
    public static let all =
        freshnessCases + validationCases + directiveCases + selectionCases + partCases + fieldCases
        + accessCases
}

extension CacheCase {
    /// One exchange of a case.
    public struct Step: Sendable {
        /// Where the answer must come from, and with it whether the server must be asked.
        public enum Expected: Sendable {
            /// The server's answer to this request.
            case network
            /// The cache, without asking the server.
            case cache
            /// The cache, after the server confirmed it.
            case revalidated
            /// Stale, without asking first.
            case stale
            /// Stale, because asking failed.
            case staleAfterFailure
            /// The error of a lost connection.
            case failure
        }

        /// What must come out.
        public let expected: Expected
        /// The method of the request.
        public var method = "GET"
        /// The answer that the server would give: `200 | Name: value`, or `lost`.
        public var reply: String
        /// The seconds since the exchange before.
        public var after: Double
        /// The header fields of the request.
        public var request: String
        /// The path of the request.
        public var path: String
        /// The cache mode of the request.
        public var mode: HTTPCacheMode
        /// The redirect mode of the request.
        public var redirect: HTTPRequest.RedirectMode
        /// Nil: 200, or what the reply says.
        public var status: Int?
        /// Expected body; nil: that of the step `of`, or the last one that came from the server.
        public var body: String?
        /// The step whose body is expected.
        public var of: Int?
        /// Body of the reply; nil: `answer` and the step's number.
        public var sends: String?
        /// Fields that the server must see, `!Name` for those it must not.
        public var saw: String
        /// Fields that the answer must have, `!Name` for those it must not.
        public var has: String
        /// Whether what is asked behind must have ended before the next step.
        public var settles: Bool

        /// A GET. Fields are written `Name: value | Name: value`; `@Name: seconds` is a date that far from the present.
        static func get(
            _ expected: Expected, _ reply: String = "200", after: Double = 0, with request: String = "",
            path: String = "/a", mode: HTTPCacheMode = .default, redirect: HTTPRequest.RedirectMode = .manual,
            status: Int? = nil, body: String? = nil, of: Int? = nil, sends: String? = nil, saw: String = "",
            has: String = "", settles: Bool = false
        ) -> Step {
            Step(
                expected: expected, reply: reply, after: after, request: request, path: path, mode: mode,
                redirect: redirect, status: status, body: body, of: of, sends: sends, saw: saw, has: has,
                settles: settles)
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
}

extension CacheCase {
    /// A scripted answer of the server.
    public struct Reply: Sendable {
        /// Three digits.
        public var status: Int
        /// The header fields.
        public var fields: HTTPFields
        /// The body.
        public var body: Data

        /// `200 | Name: value`; nil for `lost`.
        public init?(_ text: String, body: Data, now: Date) {
            let parts = text.components(separatedBy: " | ")
            guard let status = Int(parts[0]) else { return nil }
            self.status = status
            self.fields = Self.fields(parts.dropFirst().joined(separator: " | "), now: now)
            self.body = status == 304 || status == 204 ? Data() : body
        }

        /// The header fields of a line of a case.
        public static func fields(_ text: String, now: Date) -> HTTPFields {
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
}

/// A calendar that stands still until it is moved. Thread-safe.
public final class ManualCalendar: Sendable {
    private let time = Shared(Date(timeIntervalSince1970: 1_800_000_000))

    /// Creates a calendar.
    public init() {}

    /// The present moment.
    public var now: Date { time.value }

    /// Moves the calendar.
    public func advance(by seconds: Double) { time.update { $0.addTimeInterval(seconds) } }
}
