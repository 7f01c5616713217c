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
    }
}
