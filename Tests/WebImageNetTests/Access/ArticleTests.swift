// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageNet
import WebImageTestSupport
import WebImageTesting

private struct Bearer: LoadInterceptor {
    let token: @Sendable (_ isRenewed: Bool) async -> String

    func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse {
        var request = request
        request.fields["Authorization"] = "Bearer \(await token(false))"
        do throws(ImageError) {
            return try await next(request)
        } catch .network(let error) where error.reason == .authenticationRequired {
            request.fields["Authorization"] = "Bearer \(await token(true))"
            return try await next(request)
        }
    }
}

private struct Decipher: ResponseInterceptor {
    let key: UInt8

    func body(_ body: Data, head: ResponseHead?, request: LoadRequest) async throws(ImageError) -> Data {
        Data(body.map { $0 ^ key })
    }
}

/// The code examples of Documentation/Networking.md.
@Suite("Networking article", .timeLimit(.minutes(5)))
struct ArticleTests {
    @Test("The examples for configuration and redirects work")
    func configuration() async throws {
        let server = try LoopbackServer { _ in
            ServerResponse(status: 404, fields: HTTPFields(), body: Data("x".utf8))
        }
        let url = server.url("/")
        var configuration = DownloaderConfiguration()
        configuration.timeouts = LoadTimeouts(connect: 5, idle: 10, total: 30)
        configuration.fields = HTTPFields([.init(name: "X-Api-Key", value: "secret")])
        configuration.acceptedStatuses = .range(200...299)
        configuration.acceptedContentTypes = ["image/*"]
        configuration.redirectPolicy = { redirect in
            redirect.to.host() == "tracker.example" ? .refuse("no trackers") : .follow
        }
        configuration.proxy = .none
        let downloader = ImageDownloader(configuration)

        var request = LoadRequest(url: url)
        request.network.acceptedStatuses = .set([200, 404])
        request.network.acceptedContentTypes = []
        #expect(try await downloader.load(request, context: LoadContext()).body == Data("x".utf8))
        #expect(server.requests.first?.fields["X-Api-Key"] == "secret")
    }

    @Test("The examples for credentials, cookies, proxies, and trust compile and run")
    func stores() throws {
        let origin = try #require(URL(string: "https://pictures.example"))
        let path = FileManager.default.temporaryDirectory.appending(path: "webimage-article-\(UUID())").path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let pin = Data(count: 32).base64EncodedString()
        var configuration = DownloaderConfiguration()
        let store = CredentialStore()
        store.set(Credential(user: "ada", password: "secret"), for: origin, realm: "Pictures")
        store.set(Credential(user: "ada", password: "secret", scheme: .digest), for: origin)
        configuration.credentials = store
        let jar = CookieJar()
        configuration.cookies = .jar(jar)
        try jar.write(to: path)
        try CookieJar().read(from: path)
        configuration.proxy = .environment
        configuration.proxy = .none
        configuration.proxy = .url("http://ada:secret@proxy.example:3128")
        configuration.proxy = .url("socks5h://127.0.0.1:1080")
        let tls = TLSConfiguration.authorities("/etc/ssl/own-authority.pem")
            .identifying(as: .files(certificate: "client.pem", key: "client.key"), at: "intranet.example")
            .pinning("pictures.example", to: ["sha256//" + pin])
        configuration.tls = tls
        configuration.tls.minimumVersion = .tls13
        configuration.strictTransport = StrictTransport()
        #expect(configuration.tls.pins["pictures.example"]?.count == 1)
    }

    @Test("The examples for interrupted transfers work")
    func lost() async throws {
        let url = try #require(URL(string: "https://pictures.example/a"))
        let folder = try TemporaryFolder()
        let path = folder.file("parts")
        var configuration = DownloaderConfiguration()
        configuration.resume = ResumeConfiguration(directory: path)
        configuration.resume?.memoryLimit = 16 << 20
        let downloader = ImageDownloader(configuration)
        downloader.forgetParts(of: url)
        await downloader.forgetAllParts()
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
    }

    @Test("The examples for interceptors work")
    func interceptors() async throws {
        let server = try LoopbackServer { request in
            let isRight = request.fields["Authorization"] == "Bearer new"
            return isRight ? .ok(Data("picture".utf8.map { $0 ^ 7 })) : .status(401)
        }
        var configuration = DownloaderConfiguration()
        configuration.proxy = .none
        configuration.interceptors = [Bearer { isRenewed in isRenewed ? "new" : "old" }]
        configuration.responseInterceptors = [Decipher(key: 7)]
        let response = try await ImageDownloader(configuration).load(
            LoadRequest(url: server.url("/")), context: LoadContext())
        #expect(response.body == Data("picture".utf8))
        #expect(server.requests.map { $0.fields["Authorization"] } == ["Bearer old", "Bearer new"])
    }
}
