// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP
import WebImageHTTPClient
import WebImageTestBasics

/// A rule of HTTP caching as a list of exchanges. Each exchange has a request, the response that the server would send,
/// and the expected result.
public struct CacheCase: Sendable, CustomStringConvertible {
    /// The name of the rule, which is unique.
    public let name: String
    /// The policy of the cache.
    public let policy: HTTPCachePolicy
    /// The exchanges in order.
    public let steps: [Step]

    init(_ name: String, policy: HTTPCachePolicy = HTTPCachePolicy(), _ steps: [Step]) {
        self.name = name
        self.policy = policy
        self.steps = steps
    }

    /// The name of the rule.
    public var description: String { name }
}

/// The table of all caching rules.
public enum HTTPCases {
    /// All rules of the table.
    public static let all =
        freshnessCases + validationCases + directiveCases + selectionCases + partCases + headerCases
        + accessCases
}

extension CacheCase {
    /// One exchange of a case.
    public struct Step: Sendable {
        /// The expected source of the response, which also determines whether the cache must contact the server.
        public enum Expected: Sendable {
            /// The server's response to this request.
            case network
            /// The cached response, without contacting the server.
            case cache
            /// The cached response, after the server revalidated it.
            case revalidated
            /// A stale cached response, without contacting the server first.
            case stale
            /// A stale cached response, because the request to the server failed.
            case staleAfterFailure
            /// The error of an interrupted connection.
            case failure
        }

        /// The expected source of the response.
        public let expected: Expected
        /// The method of the request.
        public var method = "GET"
        /// The response that the server would send, as `200 | Name: value`, or `lost` for an interrupted connection.
        public var reply: String
        /// The time since the previous exchange, in seconds.
        public var after: Double
        /// The header fields of the request.
        public var request: String
        /// The path of the request.
        public var path: String
        /// The cache mode of the request.
        public var mode: HTTPCacheMode
        /// The redirect mode of the request.
        public var redirect: HTTPClient.Request.RedirectMode
        /// The expected status. `nil` means 200 or the status of the reply.
        public var status: Int?
        /// The expected body. `nil` means the body of the step `of`, or the most recent body that came from the server.
        public var body: String?
        /// The index of the step whose body is expected.
        public var of: Int?
        /// The body of the reply. `nil` means a text with the number of the step.
        public var sends: String?
        /// The header fields that the server must receive. The form `!Name` means that a field must be absent.
        public var saw: String
        /// The header fields that the response must have. The form `!Name` means that a field must be absent.
        public var has: String
        /// A Boolean value that indicates whether background revalidations must finish before the next step.
        public var settles: Bool

        /// Returns a step with a GET request.
        ///
        /// Header fields have the form `Name: value | Name: value`. In `@Name: seconds`, the value is a date relative
        /// to the current time.
        static func get(
            _ expected: Expected, _ reply: String = "200", after: Double = 0, with request: String = "",
            path: String = "/a", mode: HTTPCacheMode = .default,
            redirect: HTTPClient.Request.RedirectMode = .manual, status: Int? = nil, body: String? = nil,
            of: Int? = nil, sends: String? = nil, saw: String = "", has: String = "", settles: Bool = false
        ) -> Step {
            Step(
                expected: expected, reply: reply, after: after, request: request, path: path, mode: mode,
                redirect: redirect, status: status, body: body, of: of, sends: sends, saw: saw, has: has,
                settles: settles)
        }

        /// Returns a step with another method. By default, the request is expected to reach the server.
        static func request(
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
    /// A scripted response of the server.
    public struct Reply: Sendable {
        /// The status code.
        public var status: Int
        /// The header fields.
        public var headers: HTTPHeaderFields
        /// The body.
        public var body: Data

        /// Parses a reply of the form `200 | Name: value`. Returns `nil` for `lost`.
        public init?(_ text: String, body: Data, now: Date) {
            let parts = text.components(separatedBy: " | ")
            guard let status = Int(parts[0]) else { return nil }
            self.status = status
            self.headers = Self.headers(parts.dropFirst().joined(separator: " | "), now: now)
            self.body = status == 304 || status == 204 ? Data() : body
        }

        /// Parses the header fields of a line of a case.
        public static func headers(_ text: String, now: Date) -> HTTPHeaderFields {
            guard !text.isEmpty else { return HTTPHeaderFields() }
            return HTTPHeaderFields(
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

/// A calendar whose time changes only when a test advances it. It is thread-safe.
public final class ManualCalendar: Sendable {
    private let time = Shared(Date(timeIntervalSince1970: 1_800_000_000))

    /// Creates a calendar.
    public init() {}

    /// The current time of the calendar.
    public var now: Date { time.value }

    /// Advances the calendar by a number of seconds.
    public func advance(by seconds: Double) { time.update { $0.addTimeInterval(seconds) } }
}
