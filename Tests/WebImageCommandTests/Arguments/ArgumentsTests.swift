// SPDX-License-Identifier: MIT

import Testing
import WebImage
import WebImageCore

@testable import WebImageCommand

@Suite("Command lines")
struct ArgumentsTests {
    private func arguments(_ words: String..., for command: CommandSpec = Commands.fetch) throws -> Arguments {
        try Arguments(words, for: command)
    }

    private func message(_ words: [String], for command: CommandSpec = Commands.fetch) -> String? {
        do throws(UsageError) {
            _ = try FetchOptions(try Arguments(words, for: command)) { path throws(ImageError) in
                throw .request(.fileNotFound(path: path))
            }
            return nil
        } catch {
            return error.message
        }
    }

    @Test("Options and operands can be in any order")
    func anyOrder() throws {
        let read = try arguments("a", "--json", "b", "-o", "dir", "--size=10x20", "c")
        #expect(read.operands == ["a", "b", "c"])
        #expect(read.has("json"))
        #expect(read.last("output") == "dir")
        #expect(read.last("size") == "10x20")
    }

    @Test("After two dashes, all arguments are operands, and a single dash is an operand")
    func operandsOnly() throws {
        let read = try arguments("-", "--", "--json", "-q")
        #expect(read.operands == ["-", "--json", "-q"])
        #expect(!read.has("json"))
    }

    @Test("Short options can be combined, and long options can be abbreviated while they're unique")
    func abbreviations() throws {
        let read = try arguments("-qj", "4", "--js", "a")
        #expect(read.has("quiet") && read.has("json"))
        #expect(read.last("jobs") == "4")
    }

    @Test("The last value of a repeated option is used")
    func repeated() throws {
        #expect(try arguments("-j", "1", "-j", "2").last("jobs") == "2")
    }

    @Test(
        "Each invalid command line causes a specific error message",
        arguments: [
            (["--frob"], "unknown option --frob"),
            (["a", "--frob=1"], "unknown option --frob"),
            (["-Y"], "unknown option -Y"),
            (["--ouput", "x"], "unknown option --ouput (did you mean --output?)"),
            (["--overwrit=x"], "--overwrite: this option doesn’t take a value"),
            (["--max-pixel-s=9"], "unknown option --max-pixel-s (did you mean --max-pixels?)"),
            (["--tiemout=3"], "unknown option --tiemout (did you mean --timeout?)"),
            (["--output"], "--output: the value is missing (use --output OUT)"),
            (["-o"], "--output: the value is missing (use --output OUT)"),
            (["--json=1"], "--json: this option doesn’t take a value"),
            (["--cache", "x"], "--cache: the option is ambiguous (use --cache-policy or --cache-dir)"),
            ([], "missing INPUT (use a URL or a path)"),
            (["a", "-j", "0"], "--jobs: “0” isn’t valid (use a whole number from 1 to 1000)"),
            (["a", "-j", "x"], "--jobs: “x” isn’t valid (use a whole number from 1 to 1000)"),
            (
                ["a", "-p", "x"],
                "--cache-policy: “x” isn’t valid (use one of http, cache-first, refresh, reload, cache-only)"
            ),
            (
                ["a", "-f", "svg", "-o", "x"],
                "--format: “svg” isn’t valid (use one of jpeg, png, apng, webp, gif, bmp, qoi, ppm, pgm, pam, "
                    + "ico, tiff, avif, heic, jxl)"
            ),
            (["a", "-f", "png"], "--format can only be used with --output or --output-dir"),
            (["a", "-Q", "80"], "--quality can only be used with --output or --output-dir"),
            (["a", "-n"], "--no-clobber can only be used with --output or --output-dir"),
            (["a", "-o", "x", "-d", "y"], "--output and --output-dir can’t be combined"),
            (["a", "-y", "-n", "-o", "x"], "--overwrite and --no-clobber can’t be combined"),
            (["a", "--limits", "none", "--no-limits"], "--limits and --no-limits can’t be combined"),
            (["a", "-o", "-", "--json"], "--json can’t be combined with --output -"),
            (["-", "-i", "-"], "standard input can be used only once"),
            (
                ["a", "-s", "x"],
                "--size: “x” isn’t a size (use pixels, such as 320x240, 320, x240, 320x240^, or 320x240!, or percentages, "
                    + "such as 50%)"
            ),
            (
                ["a", "-s", "0%"],
                "--size: “0%” isn’t a size (use percentages greater than 0%, up to 10000%, such as 50% or 50%x25%)"
            ),
            (["a", "-H", "Accept"], "--header: “Accept” isn’t valid (use the form NAME: VALUE)"),
            (["a", "-x", "p:1", "--noproxy"], "--proxy and --noproxy can’t be combined"),
            (["a", "--key", "k.pem"], "--key can only be used with --cert"),
            (["a", "-m", "soon"], "--max-time: “soon” isn’t a duration (use a duration such as 90, 1.5, or 2m)"),
        ])
    func refused(_ words: [String], _ expected: String) {
        #expect(message(words) == expected)
    }

    @Test("If an image is encoded again, the extension of the output file names the format, unless --format does")
    func outputFormat() throws {
        func format(_ words: String...) throws -> ImageFormat? {
            let options = try FetchOptions(try Arguments(words, for: Commands.fetch)) { path throws(ImageError) in
                throw .request(.fileNotFound(path: path))
            }
            return options.encoding.format
        }
        #expect(try format("a", "-o", "b.png", "-s", "10") == .png)
        #expect(try format("a", "-o", "b.png", "-Q", "80", "-f", "webp") == .webp)
        #expect(try format("a", "-o", "b.data", "-s", "10") == nil)
        #expect(try format("a", "-d", "b.png", "-s", "10") == nil)
        #expect(try format("a", "-o", "b.png") == nil)
    }

    @Test("A size consists of two lengths, of which one can be omitted")
    func sizes() throws {
        #expect(try arguments("-s", "320x240").size() == .fit(width: 320, height: 240))
        #expect(try arguments("-s", "320X").size() == .fit(width: 320))
        #expect(try arguments("-s", "x240").size() == .fit(height: 240))
        #expect(try arguments("a").size() == nil)
        #expect(try arguments("-s", "200").size() == .fit(width: 200))
        #expect(try arguments("-s", "320x240^").size() == .fill(width: 320, height: 240))
        #expect(try arguments("-s", "320x240!").size() == .exact(width: 320, height: 240))
        for wrong in [
            "0x1", "-1x2", "1x2x3", "1.5x2", "", "^", "200^", "x20!", "1x2^!", "99999999999999999999x1", "٣x٣",
        ] {
            #expect(throws: UsageError.self) { try arguments("--size=\(wrong)").size() }
        }
    }

    @Test("A size in percent has one percentage, or one for each side")
    func percentages() throws {
        #expect(try arguments("-s", "50%").size() == .scaled(width: 0.5, height: 0.5))
        #expect(try arguments("-s", "12.5%X200%").size() == .scaled(width: 0.125, height: 2))
        #expect(try arguments("-s", "10000%").size() == .scaled(width: 100, height: 100))
        for wrong in [
            "0%", "-5%", "10000.1%", "1000000%", "%", "%x%", "50%x", "x50%", "50%x25", "50x25%", "50%x1%x1%", "50%!",
            "50%^", "5 0%", "nan%", "1e1%", "٣%",
        ] {
            #expect {
                try arguments("--size=\(wrong)").size()
            } throws: {
                ($0 as? UsageError)?.message
                    == "--size: “\(wrong)” isn’t a size (use percentages greater than 0%, up to 10000%, such as 50% or "
                    + "50%x25%)"
            }
        }
    }

    @Test(
        "Sizes in bytes accept binary and decimal units",
        arguments: [("0", 0), ("500", 500), ("64KiB", 65_536), ("2m", 2 << 20), ("1GB", 1_000_000_000), ("7b", 7)])
    func bytes(_ text: String, _ count: Int) throws {
        #expect(try arguments("--max-size", text, for: Commands.cache).bytes("max-size") == count)
    }

    @Test("Invalid and too large byte sizes are rejected", arguments: ["", "x", "-1", "9999999999GiB", "1.5M"])
    func wrongBytes(_ text: String) {
        #expect(throws: UsageError.self) { try arguments("--max-size=\(text)", for: Commands.cache).bytes("max-size") }
    }

    @Test("Command lines are parsed independently on any thread")
    func concurrently() async {
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let read = try? Arguments(["x", "-j", "\(index)", "--json", "y"], for: Commands.fetch)
                    return read?.last("jobs") == "\(index)" && read?.operands == ["x", "y"]
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    @Test("The help lists every option at any width", arguments: [40, 80, 200])
    func help(_ width: Int) {
        let help = HelpText(width: width)
        for command in Commands.all {
            let page = help.page(command)
            for option in command.options { #expect(page.contains("--\(option.name)")) }
            #expect(help.overview.contains(command.name))
        }
        #expect(HelpText.usage(Commands.demo) == "webimage demo [option…]")
        for status in ["0", "1", "64", "69", "130", "141", "143"] {
            #expect(help.overview.contains("\n  \(status) "), "\(status)")
        }
    }

    @Test("A short option has the same long name in every command, and names are unique within a command")
    func letters() {
        var names: [Character: String] = [:]
        for command in Commands.all {
            for option in command.options {
                guard let letter = option.letter else { continue }
                #expect(names[letter, default: option.name] == option.name, "\(command.name) -\(letter)")
                names[letter] = option.name
            }
            #expect(Set(command.options.map(\.name)).count == command.options.count, "\(command.name)")
        }
        #expect(names["r"] == "recursive" && names["y"] == "overwrite")
        #expect(names["f"] == "format" && names["q"] == "quiet" && names["Q"] == "quality")
    }

    @Test("Network options are parsed with the names and letters of curl")
    func network() throws {
        let words = [
            "https://a.example/", "-H", "X-A: 1", "--header", "X-B:", "-A", "agent", "-u", "me:se:cret", "-x",
            "proxy:8080", "-m", "1.5", "--connect-timeout", "2m", "--retry", "0", "--max-redirs", "3", "-E", "c.pem",
            "--pinnedpubkey", "sha256//x", "-k", "--limits", "icon", "--max-pixels", "99", "--max-filesize", "8M",
        ]
        let network = try NetworkArguments(try Arguments(words, for: Commands.fetch))
        #expect(network.headers.map { "\($0.name)=\($0.value)" } == ["X-A=1", "X-B="])
        #expect(network.userAgent == "agent" && network.proxy == "http://proxy:8080")
        #expect(network.user == NetworkArguments.User(name: "me", password: "se:cret"))
        #expect(network.maxTime == 1.5 && network.connectTimeout == 120)
        #expect(network.retryCount == 0 && network.maxRedirects == 3)
        #expect(network.isInsecure && network.pinnedKeys == ["sha256//x"] && network.certificate == "c.pem")
        let limits = network.limits.imageLimits()
        #expect(limits.maxPixels == 99 && limits.maxEncodedBytes == 8 << 20)
        #expect(limits.maxDimension == ImageLimits.icon.maxDimension)
        #expect(network.hostOption == "user")
    }

    @Test("The hosts of --insecure-host are host names and IP addresses in their normal form")
    func insecureHosts() throws {
        let words = ["A.Example.", "b%2Eexample", "127.1", "[::1]", "münchen.example"].map { "--insecure-host=\($0)" }
        let network = try NetworkArguments(try Arguments(["a.png"] + words, for: Commands.fetch))
        let hosts = ["a.example", "b.example", "127.0.0.1", "::1", "xn--mnchen-3ya.example"]
        #expect(network.insecureHosts.map(\.text).sorted() == hosts.sorted())
    }

    @Test(
        "Text that isn't a host is an error of --insecure-host",
        arguments: ["", " ", ".", "a b", "a..example", "https://a.example", "a.example:443", "a.example/", "1.2.3.4.5"])
    func insecureHostsThatAreNone(_ text: String) throws {
        let arguments = try Arguments(["https://a.example/", "--insecure-host", text], for: Commands.fetch)
        let message =
            "--insecure-host: “\(text)” isn’t valid (specify a host name or an IP address without a scheme and a port)"
        #expect(throws: UsageError(message)) { try NetworkArguments(arguments) }
    }

    @Test("A higher maximum number of pixels also raises the limit for the size in the header")
    func manyPixels() throws {
        let words = ["https://a.example/", "--max-pixels", "500000000"]
        let limits = try NetworkArguments(try Arguments(words, for: Commands.fetch)).limits.imageLimits()
        #expect(limits.maxPixels == 500_000_000 && limits.maxSourcePixels == 500_000_000)
    }

    @Test(
        "A misspelled command has a suggestion if it's similar to a name",
        arguments: [
            ("convrt", "convert"), ("fecth", "fetch"), ("Info", "info"), ("thumb", "thumbnail"), ("halp", "help"),
            ("frob", nil), ("x", nil), ("photo.jpg", nil), ("", nil), ("https://example.org/a.png", nil),
        ] as [(String, String?)])
    func commands(_ name: String, _ nearest: String?) {
        let hint = nearest.map { "did you mean \($0)?" } ?? "to list the commands, run webimage --help"
        #expect(throws: UsageError("unknown command “\(name)” (\(hint))")) { try Commands.command(name) }
    }

    @Test("Each name of a command and of an option is the suggestion for itself with exchanged characters")
    func exchangedCharacters() {
        let names = Set(Commands.all.flatMap { $0.options.map(\.name) }).sorted()
        for name in names where name.count > 3 {
            var characters = Array(name)
            characters.swapAt(1, 2)
            #expect(SpellingSuggestion.nearest(to: String(characters), in: names) == name, "\(name)")
        }
    }

    @Test("Each cache policy has a name on the command line")
    func cachePolicies() throws {
        #expect(OptionSpec.cachePolicies == CachePolicy.allCases.map(\.rawValue))
        for name in OptionSpec.cachePolicies {
            let arguments = try arguments("a", "--cache-policy", name)
            #expect(try arguments.choice("cache-policy", of: OptionSpec.cachePolicies) == name)
        }
        #expect(OptionSpec.cachePolicy.help.contains("http (default), cache-first"))
    }

    @Test("Extensions name formats", arguments: [("a.JPG", ImageFormat.jpeg), ("x/y.webp", .webp), ("a.b.png", .png)])
    func extensions(_ name: String, _ format: ImageFormat) {
        #expect(ImageFormat(fileName: name) == format)
    }

    @Test("Other file names select no format", arguments: ["a", "a.txt", "dir.png/a", ""])
    func noExtension(_ name: String) {
        #expect(ImageFormat(fileName: name) == nil)
    }
}
