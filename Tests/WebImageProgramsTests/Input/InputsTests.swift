// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageCommand
import WebImagePrograms

@Suite("Inputs of commands")
struct InputsTests {
    @Test(
        "Text that begins with a host name becomes an HTTPS URL",
        arguments: [
            "example.org", "example.org/a.png", "example.org:8080/a.png", "localhost:80", "localhost/a",
            "a-b.example/?q=1",
        ])
    func hosts(_ text: String) throws {
        #expect(try Inputs.url(text).absoluteString == "https://\(text)")
    }

    @Test("URLs keep their scheme")
    func schemes() throws {
        for text in ["http://a.example/", "data:image/png;base64,AAAA", "file:///tmp/a.png", "x.y:z"] {
            #expect(try Inputs.url(text).absoluteString == text)
        }
    }

    @Test(
        "Names that look like files are missing files, and other text isn't a URL",
        arguments: [
            ("missing.png", 1_006), ("dir/missing.png", 1_006), ("/missing", 1_006), ("./a.b/c", 1_006),
            ("a..b/c", 1_006), ("nothing", 1_002),
        ])
    func files(_ text: String, _ code: Int) {
        #expect {
            try Inputs.url(text)
        } throws: {
            ($0 as? ImageError)?.code == code
        }
    }

    @Test("Options for servers on the command line require a URL there")
    func setup() throws {
        func setup(_ words: String...) throws -> NetworkSetup {
            let arguments = try Arguments(words, for: Commands.info)
            return try NetworkSetup(NetworkArguments(arguments), operands: arguments.operands)
        }
        for option in [["-u", "me"], ["-k"], ["-E", "c.pem"], ["--pinnedpubkey", "sha256//x"]] {
            let words = ["a.png"] + option
            let arguments = try Arguments(words, for: Commands.info)
            #expect(throws: UsageError.self) {
                try NetworkSetup(NetworkArguments(arguments), operands: arguments.operands)
            }
        }
        let applied = try setup(
            "https://A.example/x.png", "-k", "--retry", "4", "--max-redirs", "1", "--noproxy", "--public-only", "-m",
            "7")
        var configuration = ImageManager.Configuration()
        applied.apply(to: &configuration)
        #expect(configuration.downloader.tls.insecureHosts == ["a.example"])
        #expect(configuration.downloader.retry.maxAttempts == 5 && configuration.downloader.maxRedirects == 1)
        #expect(configuration.downloader.proxy == .disabled && configuration.downloader.addressPolicy == .publicOnly)
        #expect(configuration.downloader.timeout == .seconds(7))
        #expect(configuration.downloader.connectTimeout == .seconds(10))
        #expect(configuration.allowedSchemes?.contains("file") == true)
    }
}
