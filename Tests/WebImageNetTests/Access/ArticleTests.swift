// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImageCore
import WebImageHTTP
import WebImageHTTPTesting
import WebImageNet
import WebImageTestSupport

private struct Bearer: DownloadInterceptor {
    let token: @Sendable (_ isRenewed: Bool) async -> String

    func intercept(_ request: LoadRequest, next: Next) async throws(ImageError) -> LoadResponse {
        var request = request
        request.headers["Authorization"] = "Bearer \(await token(false))"
        do throws(ImageError) {
            return try await next(request)
        } catch .network(let error) where error.reason == .authenticationRequired {
            request.headers["Authorization"] = "Bearer \(await token(true))"
            return try await next(request)
        }
    }
}

private struct Decipher: ResponseBodyModifier {
    let key: UInt8

    func modify(_ body: Data, of head: HTTPResponseHead?, for request: LoadRequest) async throws(ImageError) -> Data {
        Data(body.map { $0 ^ key })
    }
}

/// Tests of the behavior that the article HTTP describes.
@Suite("HTTP article", .timeLimit(.minutes(5)))
struct ArticleTests {
    @Test("The examples for configuration and redirects work")
    func configuration() async throws {
        let server = try LoopbackServer { _ in
            LoopbackServer.Response(statusCode: 404, headers: HTTPHeaderFields(), body: Data("x".utf8))
        }
        let url = server.url("/")
        var configuration = ImageDownloader.Configuration()
        configuration.timeout = .seconds(30)
        configuration.connectTimeout = .seconds(5)
        configuration.idleTimeout = .seconds(10)
        configuration.headers = ["X-Api-Key": "secret"]
        configuration.acceptableStatusCodes = Set(200...299)
        configuration.acceptableContentTypes = ["image/*"]
        configuration.redirectHandler = { redirect in
            redirect.destination.host() == "tracker.example" ? .refuse(reason: "no trackers") : .follow
        }
        configuration.proxy = .disabled
        let downloader = ImageDownloader(configuration: configuration)

        var request = LoadRequest(url: url)
        request.network.acceptableStatusCodes = [200, 404]
        request.network.acceptableContentTypes = []
        #expect(try await downloader.load(request, context: LoadContext()).body == Data("x".utf8))
        #expect(server.requests.first?.headers["X-Api-Key"] == "secret")
    }

    @Test("The examples for credentials, cookies, proxies, and trust compile and run")
    func stores() throws {
        let origin = try #require(URL(string: "https://pictures.example"))
        let file = FileManager.default.temporaryDirectory.appending(path: "webimage-article-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        let pin = Data(count: 32).base64EncodedString()
        var configuration = ImageDownloader.Configuration()
        let store = CredentialStore()
        store.setCredentials(user: "ada", password: "secret", for: origin, realm: "Pictures")
        store.setCredentials(user: "ada", password: "secret", for: origin, allowsBasic: false)
        configuration.credentials = store
        let jar = CookieJar()
        configuration.cookieJar = jar
        try jar.save(to: file)
        try CookieJar().load(from: file)
        configuration.proxy = .environment
        configuration.proxy = .disabled
        let proxy = try #require(URL(string: "http://ada:secret@proxy.example:3128"))
        configuration.proxy = .url(proxy)
        let (certificate, key) = (URL(filePath: "client.pem"), URL(filePath: "client.key"))
        var tls = TLSOptions()
        tls.trustRoots = .file(URL(filePath: "/etc/ssl/own-authority.pem"))
        tls.clientCertificates["intranet.example"] = .files(certificate: certificate, privateKey: key)
        tls.pinnedPublicKeys["pictures.example"] = ["sha256//" + pin]
        tls.minimumVersion = .tls13
        configuration.tls = tls
        configuration.hsts = HSTSStore()
        #expect(configuration.tls.pinnedPublicKeys["pictures.example"]?.count == 1)
    }

    @Test("The examples for interrupted transfers work")
    func lost() async throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("parts")
        let directory = URL(filePath: path)
        var configuration = ImageDownloader.Configuration()
        configuration.resume = ResumeOptions(directory: directory)
        configuration.resume?.memoryLimit = 16 << 20
        let downloader = ImageDownloader(configuration: configuration)
        await downloader.removeAllPartialDownloads()
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
    }

    @Test("The examples for interceptors work")
    func interceptors() async throws {
        let server = try LoopbackServer { request in
            let isRight = request.headers["Authorization"] == "Bearer new"
            return isRight ? .ok(Data("picture".utf8.map { $0 ^ 7 })) : .status(401)
        }
        var configuration = ImageDownloader.Configuration()
        configuration.proxy = .disabled
        configuration.interceptors = [Bearer { isRenewed in isRenewed ? "new" : "old" }]
        configuration.bodyModifiers = [Decipher(key: 7)]
        let response = try await ImageDownloader(configuration: configuration).load(
            LoadRequest(url: server.url("/")), context: LoadContext())
        #expect(response.body == Data("picture".utf8))
        #expect(server.requests.map { $0.headers["Authorization"] } == ["Bearer old", "Bearer new"])
    }
}
