// SPDX-License-Identifier: MIT

import Foundation
import Testing
import WebImage
import WebImageCommand
import WebImagePrograms
import WebImageTestSupport

@Suite("Inputs of commands")
struct InputsTests {
    @Test(
        "Text that begins with a host name becomes an HTTPS URL",
        arguments: [
            "example.org", "example.org/a.png", "example.org:8080/a.png", "localhost.example/a", "10.0.0.1/a",
            "a-b.example/?q=1", "1.2.3.4:80/a", "[2001:db8::1]:8080/a.png", "user:pass@example.org/localhost",
        ])
    func hosts(_ text: String) throws {
        #expect(try Inputs.url(text).absoluteString == "https://\(text)")
    }

    @Test(
        "Text that begins with the name or an address of this machine becomes an HTTP URL",
        arguments: [
            "localhost:8931/x", "localhost/a", "localhost:80", "a.localhost:8080/x.png", "127.0.0.1:8931/x",
            "127.0.0.1/a.png?b", "127.1:80/x", "[::1]:8931/x", "[::1]/a.png", "[::ffff:127.0.0.1]:80/a",
            "user:pass@localhost:8080/x",
        ])
    func loopback(_ text: String) throws {
        #expect(try Inputs.url(text).absoluteString == "http://\(text)")
        let list = InputList([text])
        #expect(list.inputs.map(\.text) == ["http://\(text)"] && list.isSingle)
        #expect(list.notes.count == 1 && list.notes.first?.hasSuffix("doesn’t exist, so http:// is added") == true)
    }

    @Test("User information before a host name isn't a scheme, and no message contains it")
    func userInformation() throws {
        let text = "user:hunter2@example.invalid/a.png?sig=SECRET"
        #expect(!Inputs.hasScheme(text) && !Inputs.hasScheme("a:b@c") && Inputs.hasScheme("data:image/png,a@b"))
        #expect(try Inputs.url(text).absoluteString == "https://\(text)")
        let list = InputList([text])
        #expect(list.notes == ["the file “example.invalid/a.png” doesn’t exist, so https:// is added"])
        for text in [text, "user:hunter2@intranet/a.png?sig=SECRET", "https://user:hunter2@a b/?sig=SECRET"] {
            let input = ImageInput(text)
            for text in [input.label, InputLabel.redacted(text), "\((try? input.url) == nil ? thrown(text) : "")"] {
                #expect(!text.contains("hunter2") && !text.contains("SECRET"), "\(text)")
            }
        }
        for name in ["photo@2x.png", "a@b/c?.png", "what?.png", "*.jp?", "dir/photo@3x.jpg"] {
            #expect(InputLabel.redacted(name) == name && ImageInput(name).label == name)
        }
        #expect(ImageInput("data:image/png;base64,AAAA").label == "data:…")
    }

    /// Returns the message of the error for an input.
    private func thrown(_ text: String) -> String {
        do throws(ImageError) {
            return try Inputs.url(text).absoluteString
        } catch {
            return error.message
        }
    }

    @Test("URLs keep their scheme")
    func schemes() throws {
        for text in ["http://a.example/", "data:image/png;base64,AAAA", "file:///tmp/a.png", "x.y:z"] {
            #expect(try Inputs.url(text).absoluteString == text)
        }
    }

    @Test("URLs are parsed by the rules of the URL Standard, and existing escapes remain unchanged")
    func escapes() throws {
        for (text, expected) in [
            ("http://host/a%20b c.png", "http://host/a%20b%20c.png"),
            (" http://host/q?t=[%20]\t", "http://host/q?t=%5B%20%5D"),
            ("http:\\\\us er:p%40ss@host\\x%2Fy z.png", "http://us%20er:p%40ss@host/x%2Fy%20z.png"),
            (" example.org/a%20b c.png", "https://example.org/a%20b%20c.png"),
            ("us er:p%40ss@example.org/x", "https://us%20er:p%40ss@example.org/x"),
            ("data:text/plain,a%20b c", "data:text/plain,a%20b%20c"),
        ] {
            #expect(try Inputs.url(text).absoluteString == expected, "\(text)")
        }
        #expect(try Inputs.url("file:///tmp/a%20b c.png").path(percentEncoded: false) == "/tmp/a b c.png")
    }

    @Test("An existing file is read, regardless of whether its name looks like a URL or ends with whitespace")
    func existingFiles() throws {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        for name in ["data:a%20b c.png", "a%20b\t ", "http:"] {
            let path = directory.file(name)
            try Data("x".utf8).write(to: URL(filePath: path))
            #expect(try Inputs.url(path) == URL(filePath: path).absoluteURL)
        }
    }

    @Test("User information isn't shown, also if a URL has unusual slashes or surplus whitespace")
    func unusualSlashes() {
        for text in [
            "http:\\\\user:hunter2@host\\a.png", "http:/user:hunter2@host/a.png", "https:user:hunter2@host/a.png",
            "http:///user:hunter2@ho st/a.png", " http://us er:hunter2@host/a.png",
        ] {
            let input = InputList([text]).inputs.first ?? ImageInput(text)
            for text in [input.label, InputLabel.redacted(text), "\((try? input.url) == nil ? thrown(text) : "")"] {
                #expect(!text.contains("hunter2"), "\(text)")
            }
        }
        #expect(InputLabel.redacted("http:a.png") == "http://a.png" && InputLabel.redacted("a:b.png") == "a:b.png")
    }

    @Test(
        "Text that is neither a URL nor begins with a host name is the name of a missing file",
        arguments: [
            ("missing.png", 1_006), ("dir/missing.png", 1_006), ("/missing", 1_006), ("./a.b/c", 1_006),
            ("a..b/c", 1_006), ("nothing", 1_006), ("", 1_002), ("http://a b", 1_002),
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
        try setup("https://A.example/", "--insecure-host", "B.example").apply(to: &configuration)
        #expect(configuration.downloader.tls.insecureHosts == ["a.example", "b.example"])
        configuration.downloader.tls = TLSOptions()
        try setup("https://A.example/", "--insecure-host", "B.example").apply(to: &configuration)
        #expect(configuration.downloader.tls.insecureHosts == ["b.example"])
        try setup("a.png", "--proxy", "http://us er:p%40ss@proxy.example:81").apply(to: &configuration)
        let proxy = try #require(URL(string: "http://us%20er:p%40ss@proxy.example:81"))
        #expect(configuration.downloader.proxy == .url(proxy))
    }
}
