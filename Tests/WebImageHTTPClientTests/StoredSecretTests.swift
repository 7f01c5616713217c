// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageHTTP
import WebImageHTTPClient
import WebImageStore

@Suite("Secrets in the stores of responses")
struct StoredSecretTests {
    private func response(_ status: Int) -> StoredResponse {
        let headers: HTTPHeaderFields = [
            "Set-Cookie": "id=1", "WWW-Authenticate": "Basic", "Proxy-Status": "a", "X-Visible": "1",
        ]
        let head = StoredResponseHead(
            head: HTTPResponseHead(statusCode: status, headers: headers), finalURL: "https://example.org/",
            requestTime: Date(), responseTime: Date())
        return StoredResponse(variant: VaryIndex.Variant(id: "a", stored: head), head: head, body: Data([1]))
    }

    private func check(_ store: any HTTPResponseStore, _ names: [String]) async {
        await store.put(response(200), request: [:], for: "k")
        await store.update(response(200), for: "k")
        let found = await store.response(for: "k", matching: [:])
        #expect(found?.head.head.headers.map(\.name) == names)
        // Without its challenge, a stored 401 would be of no use, and it replaces the previous response.
        await store.put(response(401), request: [:], for: "k")
        #expect(await store.response(for: "k", matching: [:]) == nil)
    }

    @Test("Challenges and the fields of proxies aren't stored in memory, and neither is a 401 response")
    func memory() async { await check(MemoryResponseStore(), ["Set-Cookie", "X-Visible"]) }

    @Test("Cookies, challenges, and the fields of proxies aren't stored on disk, and neither is a 401 response")
    func disk() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "webimage-secrets-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let disk = try DiskCache(configuration: DiskCache.Configuration(directory: folder))
        await check(DiskResponseStore(disk), ["X-Visible"])
        await disk.close()
    }
}
