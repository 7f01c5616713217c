// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPClient
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

/// A transport that redirects every request to one URL and counts the requests.
private final class RedirectingTransport: HTTPTransport {
    private let location: String
    let sent = Shared(0)

    init(to location: String) { self.location = location }

    func send(_ request: TransferRequest, context: LoadContext) async throws(ImageError) -> TransferResponse {
        sent.update { $0 += 1 }
        let head = HTTPResponseHead(
            statusCode: 302, headers: HTTPHeaderFields([.init(name: "Location", value: location)]))
        let now = Date(timeIntervalSince1970: 0)
        return TransferResponse(head: head, requestTime: now, responseTime: now)
    }
}

@Suite("Address policy of the HTTP client", .timeLimit(.minutes(5)))
struct ClientAddressTests {
    private var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.network.proxy = .disabled
        configuration.network.addressPolicy = .publicOnly
        return configuration
    }

    private func reason(_ client: HTTPClient, _ text: String) async throws -> ImageError.NetworkFailure.Reason? {
        do throws(ImageError) {
            _ = try await client.get(URL(string: text) ?? URL(filePath: "/"))
            return nil
        } catch {
            guard case .network(let failure) = error else { throw error }
            return failure.reason
        }
    }

    @Test("No spelling of a private address or of a local name is requested, directly or after a redirect")
    func spellings() async throws {
        let server = try LoopbackServer { _ in .ok(Data("private".utf8)) }
        let client = HTTPClient(configuration: configuration)
        for host in AddressSpellings.special + AddressSpellings.localNames {
            let target = "http://\(host):\(server.port)/a"
            #expect(try await reason(client, target) == .addressNotAllowed, "\(host)")
            guard target.utf8.allSatisfy({ $0 < 128 }) else { continue }
            let transport = RedirectingTransport(to: target)
            let redirected = HTTPClient(configuration: configuration, transport: transport)
            #expect(try await reason(redirected, "http://a.example/") == .addressNotAllowed, "\(host)")
            #expect(transport.sent.value == 1)
        }
        #expect(server.counters.connections == 0)
    }

    @Test("A name that resolves to a private address at the second lookup isn't connected to again")
    func rebinding() async throws {
        let server = try LoopbackServer { _ in .ok(Data("public".utf8)) }
        // The address 11.22.33.44 is public, but in tests it leads to the local server.
        let target = "http://11-22-33-44.127-0-0-1.client.rebind.test:\(server.port)/a"
        #expect(try await reason(HTTPClient(configuration: configuration), target) == nil)
        // Another client has no cached result of the first lookup.
        #expect(try await reason(HTTPClient(configuration: configuration), target) == .addressNotAllowed)
        #expect(server.counters.connections == 1)
    }

    @Test("With a proxy, requests fail unless the proxy is declared to enforce the address policy")
    func proxies() async throws {
        let proxy = try LoopbackServer { .ok(Data($0.target.utf8)) }
        let address = try #require(URL(string: "http://127.0.0.1:\(proxy.port)"))
        var configuration = configuration
        configuration.network.proxy = .url(address)
        #expect(
            try await reason(HTTPClient(configuration: configuration), "http://a.example:81/") == .addressNotAllowed)
        #expect(proxy.counters.connections == 0)
        configuration.network.proxy = .url(address, enforcesAddressPolicy: true)
        let client = HTTPClient(configuration: configuration)
        let url = try #require(URL(string: "http://A.example.:81/"))
        #expect(try await client.get(url).body == Data("http://a.example:81/".utf8))
        for host in AddressSpellings.localNames + AddressSpellings.notations(of: [10, 0, 0, 1]) {
            #expect(try await reason(client, "http://\(host):81/") == .addressNotAllowed, "\(host)")
        }
        #expect(proxy.counters.requests == 1)
    }
}
