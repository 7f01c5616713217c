// SPDX-License-Identifier: MIT

import Foundation
import WebImageCommand
import WebImageConcurrency
import WebImagePrograms

/// The command-line tool. It finds the command, runs it, and exits with its status.
@main
struct WebImageTool {
    static func main() async {
        // Handle writing to a closed pipe as an error instead of letting the signal end the process.
        signal(SIGPIPE, SIG_IGN)
        let interruption = SignalHandler()
        let console = Console(
            isSilent: { interruption.isEnding },
            onClosed: { code in
                interruption.trigger(code == EPIPE ? ExitStatus.closedPipe : ExitStatus.failed)
            })
        let status = await run(words, console, interruption)
        await interruption.yieldToEnd()
        await console.flush()
        endProcess(interruption.status ?? status)
    }

    /// The words of the command line after the name of the program. They can contain names of files that aren't valid
    /// UTF-8.
    private static var words: [String] {
        let vector = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
        return vector.dropFirst().compactMap { word in word.map { FileNameText.text(of: $0) } }
    }

    private static func run(_ words: [String], _ console: Console, _ interruption: SignalHandler) async -> Int32 {
        let help = HelpText(width: console.out.columns)
        guard let word = words.first else {
            console.writeError(help.overview)
            return ExitStatus.usage
        }
        switch word {
        case "--help", "-h", "help": return printHelp(Array(words.dropFirst()), help, console)
        case "--version", "-V":
            console.print(ProgramInfo.versionText)
            return ExitStatus.ok
        case "--generate": return await GenerateCommand(console).run(Array(words.dropFirst()))
        default: break
        }
        guard let command = command(word, console) else { return ExitStatus.usage }
        if command.name == Commands.serve.name { return await serve(Array(words.dropFirst()), help, console) }
        if ["--version", "-V"].contains(words.dropFirst().first), words.count == 2 {
            console.print(ProgramInfo.versionText)
            return ExitStatus.ok
        }
        do throws(UsageError) {
            let arguments = try Arguments(Array(words.dropFirst()), for: command)
            if arguments.has(OptionSpec.help.name) {
                console.write(help.page(command))
                return ExitStatus.ok
            }
            let color = try arguments.choice("color", of: ColorChoice.allCases.map(\.rawValue))
            console.configure(
                command, color: color.flatMap(ColorChoice.init(rawValue:)) ?? .auto,
                isQuiet: arguments.has("quiet"))
            return try await run(command, arguments, console, interruption)
        } catch {
            console.report(error.message)
            console.writeError("Usage: \(HelpText.usage(command))\nTry: webimage \(command.name) --help\n")
            return ExitStatus.usage
        }
    }

    /// Returns the command with a name, or reports that there's none and names a similar command, or one of `others`.
    private static func command(_ name: String, or others: [String] = [], _ console: Console) -> CommandSpec? {
        do throws(UsageError) {
            return try Commands.command(name, or: others)
        } catch {
            console.report(error.message)
            return nil
        }
    }

    /// Starts the image server, which reads its own options.
    private static func serve(_ words: [String], _ help: HelpText, _ console: Console) async -> Int32 {
        if words.contains("--help") || words.contains("-h") {
            console.write(help.page(Commands.serve))
            return ExitStatus.ok
        }
        await console.flush()
        return SiblingProgram.serve.run(words, console)
    }

    /// Prints the overview, the page of a command or a topic, or the man page.
    private static func printHelp(_ words: [String], _ help: HelpText, _ console: Console) -> Int32 {
        guard let word = words.first else {
            console.write(help.overview)
            return ExitStatus.ok
        }
        let topics = HelpTopic.all.map(\.name)
        if word == "--man" {
            let name = words.dropFirst().first
            if let topic = name.flatMap(HelpTopic.named) {
                console.write(ManualPage.page(topic, version: ProgramInfo.version).text)
                return ExitStatus.ok
            }
            let command = name.flatMap { Self.command($0, or: topics, console) }
            if name != nil, command == nil { return ExitStatus.usage }
            console.write(ManualPage.page(command, version: ProgramInfo.version).text)
            return ExitStatus.ok
        }
        if let topic = HelpTopic.named(word) {
            console.write(help.page(topic))
            return ExitStatus.ok
        }
        guard let command = command(word, or: topics, console) else { return ExitStatus.usage }
        console.write(help.page(command))
        return ExitStatus.ok
    }

    private static func run(
        _ command: CommandSpec, _ arguments: Arguments, _ console: Console, _ interruption: SignalHandler
    ) async throws(UsageError) -> Int32 {
        if [Commands.cache.name, Commands.doctor.name].contains(command.name) { interruption.endAtOnce() }
        switch command.name {
        case Commands.fetch.name:
            let options = try FetchOptions(arguments, readImage: Files.image)
            return try await FetchCommand(options, console, interruption).run()
        case Commands.info.name: return await InfoCommand(try .init(arguments), console, interruption).run()
        case Commands.show.name:
            let options = try ShowOptions(arguments)
            let isVerbose = arguments.has("verbose")
            let command = try ShowCommand(options, isVerbose: isVerbose, console, interruption)
            return await command.run()
        case Commands.decode.name:
            return try await DecodeCommand(try .init(arguments), console, interruption).run()
        case Commands.convert.name:
            return try await ConvertCommand(try .init(arguments), console, interruption).run()
        case Commands.animate.name:
            let options = try AnimateOptions(arguments)
            return try await AnimateCommand(options, try ImageReader(arguments), console, interruption).run()
        case Commands.thumbnail.name:
            return try await ThumbnailCommand(try .init(arguments), console, interruption).run()
        case Commands.compare.name: return try await CompareCommand(try .init(arguments), console, interruption).run()
        case Commands.cache.name: return await CacheCommand(try .init(arguments), console).run()
        case Commands.doctor.name: return await (try DoctorCommand(arguments, console)).run()
        case Commands.completion.name: return try CompletionCommand(arguments, console).run()
        case Commands.gallery.name:
            _ = try GalleryOptions(arguments)
            await console.flush()
            return SiblingProgram.gallery.run(Array(words.dropFirst()), console)
        default: return await DemoCommand(try .init(arguments), console, interruption).run()
        }
    }
}
