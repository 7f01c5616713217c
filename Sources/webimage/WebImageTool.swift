// SPDX-License-Identifier: MIT

import Foundation
import WebImageCommand
import WebImagePrograms

/// The command-line tool. It finds the command, runs it, and exits with its status.
@main
struct WebImageTool {
    static func main() async {
        // Handle writing to a closed pipe as an error instead of letting the signal end the process.
        signal(SIGPIPE, SIG_IGN)
        let interruption = SignalHandler()
        let console = Console(onClosed: { interruption.trigger(ExitStatus.closedPipe) })
        let status = await run(Array(CommandLine.arguments.dropFirst()), console, interruption)
        await console.flush()
        exit(interruption.status ?? status)
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
        default: break
        }
        guard let command = Commands.all.first(where: { $0.name == word }) else {
            console.report("unknown command “\(word)” (to list the commands, run webimage --help)")
            return ExitStatus.usage
        }
        do throws(UsageError) {
            let arguments = try Arguments(Array(words.dropFirst()), for: command)
            if arguments.has(OptionSpec.help.name) {
                console.write(help.page(command))
                return ExitStatus.ok
            }
            let color = try arguments.choice("color", of: ColorChoice.allCases.map(\.rawValue))
            console.configure(
                color: color.flatMap(ColorChoice.init(rawValue:)) ?? .auto, isQuiet: arguments.has("quiet"))
            return try await run(command, arguments, console, interruption)
        } catch {
            console.report(error.message)
            console.writeError("Usage: \(HelpText.usage(command))\nTry: webimage \(command.name) --help\n")
            return ExitStatus.usage
        }
    }

    /// Prints the overview, the page of a command, or the man page.
    private static func printHelp(_ words: [String], _ help: HelpText, _ console: Console) -> Int32 {
        guard let word = words.first else {
            console.write(help.overview)
            return ExitStatus.ok
        }
        if word == "--man" {
            guard let page = ProgramInfo.manualPage else {
                console.report("the man page is missing (it belongs next to the executable)")
                return ExitStatus.unavailable
            }
            console.write(page)
            return ExitStatus.ok
        }
        guard let command = Commands.all.first(where: { $0.name == word }) else {
            console.report("unknown command “\(word)” (to list the commands, run webimage --help)")
            return ExitStatus.usage
        }
        console.write(help.page(command))
        return ExitStatus.ok
    }

    private static func run(
        _ command: CommandSpec, _ arguments: Arguments, _ console: Console, _ interruption: SignalHandler
    ) async throws(UsageError) -> Int32 {
        let names = [Commands.decode, Commands.convert, Commands.cache, Commands.doctor].map(\.name)
        if names.contains(command.name) {
            interruption.endAtOnce()
        }
        switch command.name {
        case Commands.fetch.name:
            let options = try FetchOptions(arguments, readImage: Files.image)
            let command = try FetchCommand(options, console, interruption)
            return await command.run()
        case Commands.info.name: return await InfoCommand(try .init(arguments), console, interruption).run()
        case Commands.show.name:
            let options = try ShowOptions(arguments)
            let isVerbose = arguments.has("verbose")
            let command = try ShowCommand(options, isVerbose: isVerbose, console, interruption)
            return await command.run()
        case Commands.decode.name: return await DecodeCommand(try .init(arguments), console).run()
        case Commands.convert.name: return await ConvertCommand(try .init(arguments), console).run()
        case Commands.cache.name: return await CacheCommand(try .init(arguments), console).run()
        case Commands.doctor.name: return await (try DoctorCommand(arguments, console)).run()
        case Commands.completion.name: return try CompletionCommand(arguments, console).run()
        case Commands.gallery.name:
            _ = try GalleryOptions(arguments)
            await console.flush()
            return GalleryCommand(console).run(Array(CommandLine.arguments.dropFirst(2)))
        default: return await DemoCommand(try .init(arguments), console, interruption).run()
        }
    }
}
