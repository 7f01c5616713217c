// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4
    import Foundation
    import WebImage
    import WebImageCommand
    import WebImageCore
    import WebImageGTK
    import WebImagePrograms

    /// The program. It parses the command line, opens the window, and returns an exit status.
    @MainActor
    enum GalleryProgram {
        /// Runs until the window is closed.
        static func run(_ words: [String]) -> Int32 {
            signal(SIGPIPE, SIG_IGN)
            // Most images are much larger than their cells, so decoders need large blocks only for a short time.
            SystemMemory.prefersSmallHeap()
            if words == ["--version"] || words == ["-V"] {
                FileHandle.standardOutput.write(Data("webimage-gallery \(ProductVersion.current)\n".utf8))
                return ExitStatus.ok
            }
            do throws(UsageError) {
                let arguments = try Arguments(words, for: Commands.gallery)
                if arguments.has(OptionSpec.help.name) {
                    FileHandle.standardOutput.write(Data(HelpText(width: 80).page(Commands.gallery).utf8))
                    return ExitStatus.ok
                }
                return run(try GalleryOptions(arguments))
            } catch {
                report(error.message)
                say("Usage: \(HelpText.usage(Commands.gallery))\nTry: webimage gallery --help")
                return ExitStatus.usage
            }
        }

        private static func run(_ options: GalleryOptions) -> Int32 {
            let model: GalleryModel
            do {
                model = try GalleryModel(options, report: report)
            } catch {
                report(error.message)
                return ExitStatus.failed
            }
            guard gtk_init_check() != 0 else {
                report("Cannot open a display. Set WAYLAND_DISPLAY or DISPLAY.")
                model.close()
                return ExitStatus.unavailable
            }
            GTKMainLoop.install()
            g_set_prgname("webimage-gallery")
            g_set_application_name("WebImage Gallery")
            let status = GalleryApplication(model).run()
            model.close()
            return status
        }

        static func report(_ message: String) { say("webimage: \(DisplayText.safe(message))") }

        private static func say(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }
    }
#endif
