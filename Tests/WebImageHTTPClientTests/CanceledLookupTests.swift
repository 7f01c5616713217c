// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPClient
import WebImageHTTPTesting
import WebImageTestSupport

/// A store whose lookups wait until they're canceled and then find nothing.
private final class WaitingStore: HTTPResponseStore {
    private let begun = Shared(0)
    private let gate = TestGate()

    /// The number of lookups that have begun.
    var lookups: Int { begun.value }

    func response(for key: String, matching request: HTTPHeaderFields) async -> StoredResponse? {
        begun.update { $0 += 1 }
        await gate.wait()
        return nil
    }

    func put(_ response: StoredResponse, request: HTTPHeaderFields, for key: String) async {}
    func update(_ response: StoredResponse, for key: String) async {}
    func remove(_ id: String, for key: String) async {}
    func remove(matching request: HTTPHeaderFields, for key: String) async {}
    func removeAll(for key: String) async {}
    func removeAll() async {}
}

@Suite("Canceled lookups of the HTTP client", .timeLimit(.minutes(5)))
struct CanceledLookupTests {
    @Test(
        "A request that is canceled during the lookup fails as canceled",
        arguments: [HTTPCacheMode.default, .noCache, .forceCache, .onlyIfCached])
    func canceled(mode: HTTPCacheMode) async throws {
        let store = WaitingStore()
        var configuration = HTTPClient.Configuration()
        configuration.store = store
        let client = HTTPClient(configuration: configuration)
        let url = try #require(URL(string: "https://images.test/a"))
        var request = HTTPClient.Request(url: url)
        request.cacheMode = mode
        let task = Task { [request] () -> Int? in
            do throws(ImageError) {
                return try await client.fetch(request).statusCode
            } catch {
                return error.code
            }
        }
        await untilTrue { store.lookups == 1 }
        task.cancel()
        #expect(await task.value == 1001)
    }
}
