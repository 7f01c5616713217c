// SPDX-License-Identifier: MIT

import Foundation
import FuzzSupport
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms

/// The targets of command lines.
enum CommandLines {
    private static let words =
        Commands.all.map(\.name)
        + Commands.all.flatMap { $0.options.map { "\n--\($0.name)" + ($0.placeholder == nil ? "" : "=") } } + [
            "\n", "\n-", "\n--\n", "https://a.example/b.png", "a.png",
        ]

    static let targets = [
        FuzzTarget(
            text: "command-line", maxLength: 512,
            seeds: [
                "fetch\n--size=320x240\n-o\na.png\n--quality=80\nhttps://a.example/b.png",
                "fetch\n-H\nA: b\n-uname:secret\n--max-time=5\n--proxy=p:1\nhttps://a.example/",
                "gallery\n--delay=2s\n--count=9", "show\n--size=80x24\n--background=#fff\na.png",
                "convert\n--transform=blur=3\n--frames=0-2\na.gif\nb.webp",
            ], dictionary: words, run: options),
        FuzzTarget(
            text: "input", maxLength: 256,
            seeds: ["a.example/b.png", "https://u:p@a.example", "localhost:80/a", "a.png"],
            dictionary: ["://", "@", ":80", "/", ".", "data:", ",", "localhost"], run: input),
    ]

    /// Parses the lines of a text as the words of a command line. The first line is the command.
    private static func options(_ text: String) {
        guard !text.utf8.contains(0) else { return }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let command = Commands.all.first(where: { $0.name == lines[0] }) else { return }
        do throws(UsageError) {
            let arguments = try Arguments(Array(lines.dropFirst()), for: command)
            check(arguments, lines)
            switch command.name {
            case Commands.fetch.name:
                let options = try FetchOptions(arguments, readImage: Values.noImages)
                check(try NetworkSetup(options.network, operands: options.inputs.operands))
            case Commands.gallery.name: check(try GalleryOptions(arguments).network)
            case Commands.show.name: _ = try ShowOptions(arguments)
            default:
                _ = try arguments.encoding(try arguments.format())
                _ = try arguments.transformers(readImage: Values.noImages)
                _ = try arguments.frameSelection()
            }
        } catch {
            require(!error.message.isEmpty, "A usage error has no message.")
        }
    }

    private static func check(_ arguments: Arguments, _ lines: [String]) {
        for operand in arguments.operands { require(lines.contains(operand), "An operand isn't a word.") }
        let values = arguments.values.values.joined().filter { !$0.isEmpty }
        for value in values {
            // A value can begin with a combining character, so compare bytes.
            let isPart = lines.contains { $0.utf8.reversed().starts(with: value.utf8.reversed()) }
            require(isPart, "A value isn't part of a word.")
        }
    }

    private static func check(_ setup: NetworkSetup) {
        var configuration = ImageManager.Configuration()
        setup.apply(to: &configuration)
        require(configuration.downloader.timeout > .zero && configuration.downloader.connectTimeout > .zero)
        require(configuration.limits.maxPixels > 0 && configuration.limits.maxEncodedBytes > 0)
        require(!setup.arguments.isPublicOnly || configuration.downloader.addressPolicy == .publicOnly)
        let insecure = configuration.downloader.tls.insecureHosts
        require(insecure.isSuperset(of: setup.arguments.insecureHosts.map(\.text)))
        require(setup.arguments.isInsecure || insecure.count == setup.arguments.insecureHosts.count)
        require(insecure.allSatisfy { HostName($0)?.text == $0 }, "A host isn't in its normal form.")
    }

    private static func input(_ text: String) {
        guard !text.utf8.contains(0) else { return }
        for name in [Inputs.lastPart(text), Inputs.shortName(text)] {
            require(URLCredentials.removed(from: name) == name, "A name contains credentials.")
        }
        guard let url = try? Inputs.url(text) else { return }
        require(url.scheme?.isEmpty == false, "An input has no scheme.")
    }
}
