// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageManagerTestSupport
import WebImageTestSupport
import WebImageTesting

/// A difference in the network options of requests for the same URL. The loader of ``NetworkChoices`` returns a
/// different image for each choice.
enum NetworkChoice: Int, CaseIterable, Sendable, CustomStringConvertible {
    case plain = 1
    case credentials, otherCredentials, cookies, otherCookies, apiKey, otherAPIKey
    case statuses, contentTypes, redirects, trust, pin
    case retry, loader

    var description: String {
        switch self {
        case .plain: "plain"
        case .credentials: "credentials"
        case .otherCredentials: "other credentials"
        case .cookies: "cookies"
        case .otherCookies: "other cookies"
        case .apiKey: "API key"
        case .otherAPIKey: "other API key"
        case .statuses: "accepted statuses"
        case .contentTypes: "accepted content types"
        case .redirects: "redirect policy"
        case .trust: "unchecked host"
        case .pin: "pinned key"
        case .retry: "retry policy"
        case .loader: "own loader"
        }
    }

    /// The choices that determine access to an image.
    static let people: [NetworkChoice] = [
        .plain, .credentials, .otherCredentials, .cookies, .otherCookies, .apiKey, .otherAPIKey,
    ]
    /// The choices that determine the accepted responses.
    static let acceptance: [NetworkChoice] = [.plain, .statuses, .contentTypes, .redirects, .trust, .pin]
}

/// The values of the choices, and a loader whose images identify the choice of the load.
final class NetworkChoices: Sendable {
    private let users: [CredentialStore]
    private let jars: [CookieJar]
    let own: StubLoader
    let loader: StubLoader

    /// Creates the values.
    ///
    /// - Parameters:
    ///   - gate: A gate that holds all loads.
    ///   - failing: The choices whose loads end with a 404.
    ///   - lost: The choices whose loads lose their connection.
    init(gate: TestGate? = nil, failing: Set<NetworkChoice> = [], lost: Set<NetworkChoice> = []) {
        let users = ["anna", "berta"].map { name in
            let store = CredentialStore()
            store.setCredentials(user: name, password: "secret", for: .sample)
            return store
        }
        let jars = ["anna", "berta"].map { name in
            let jar = CookieJar()
            jar.set(Cookie(name: "session", value: name, domain: "images.test"))
            return jar
        }
        (self.users, self.jars) = (users, jars)
        let answer: @Sendable (NetworkChoice, LoadRequest) -> StubLoader.Response = { choice, request in
            let url = request.url
            if failing.contains(choice) {
                return .init(
                    error: .network(
                        ImageError.NetworkFailure(
                            .unacceptableStatusCode, url: url, phase: .waitingForResponse, statusCode: 404)),
                    responseGate: gate)
            }
            if lost.contains(choice) {
                return .init(
                    error: .network(ImageError.NetworkFailure(.connectionLost, url: url, phase: .waitingForResponse)),
                    responseGate: gate)
            }
            return Numbered.response(choice.rawValue, responseGate: gate)
        }
        own = StubLoader { answer(.loader, $0) }
        loader = StubLoader { answer(Self.choice(of: $0, users, jars), $0) }
    }

    /// The number of loads.
    var loads: Int { loader.requests.count + own.requests.count }

    /// Returns a request with the options of a choice.
    func request(_ choice: NetworkChoice) -> ImageRequest {
        var request = ImageRequest(url: .sample)
        switch choice {
        case .plain: break
        case .credentials: request.network.credentials = users[0]
        case .otherCredentials: request.network.credentials = users[1]
        case .cookies: request.network.cookieJar = jars[0]
        case .otherCookies: request.network.cookieJar = jars[1]
        case .apiKey: request.headers["X-Api-Key"] = "anna"
        case .otherAPIKey: request.headers["X-Api-Key"] = "berta"
        case .statuses: request.network.acceptableStatusCodes = [200, 404]
        case .contentTypes: request.network.acceptableContentTypes = ["image/png"]
        case .redirects: request.network.redirectPolicy = Self.refusal
        case .trust: request.network.tls = .insecure(hosts: ["images.test"])
        case .pin: request.network.tls = TLSOptions().pinning("images.test", to: ["one"])
        case .retry: request.network.retry = RetryPolicy(maxAttempts: 7)
        case .loader: request.loader = own
        }
        return request
    }

    private static let refusal: RedirectPolicy = { _ in .refuse(reason: "never") }

    private static func choice(
        of request: LoadRequest, _ users: [CredentialStore], _ jars: [CookieJar]
    ) -> NetworkChoice {
        let network = request.network
        if let store = network.credentials { return store === users[0] ? .credentials : .otherCredentials }
        if let jar = network.cookieJar { return jar === jars[0] ? .cookies : .otherCookies }
        if let key = request.headers["X-Api-Key"] { return key == "anna" ? .apiKey : .otherAPIKey }
        if let statuses = network.acceptableStatusCodes, statuses.contains(404) { return .statuses }
        if network.acceptableContentTypes == ["image/png"] { return .contentTypes }
        if network.redirectPolicy != nil { return .redirects }
        if let tls = network.tls { return tls.pinnedPublicKeys.isEmpty ? .trust : .pin }
        if network.retry?.maxAttempts == 7 { return .retry }
        return .plain
    }
}
