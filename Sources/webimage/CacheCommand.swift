// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageCore
import WebImagePrograms
import WebImageStore

/// The command `webimage cache`.
struct CacheCommand: Sendable {
    struct Options: Sendable {
        enum Action: String, CaseIterable {
            case path, info, list, show, verify, trim, clear, export, `import`
        }

        let action: Action
        let operands: [String]
        let directory: String
        /// Whether the user specified the directory, so that it must exist.
        let isDirectoryRequired: Bool
        let maxSize: Int?
        let maxAge: Double?
        let order: DiskEntryOrder
        let glob: String?
        let olderThan: Double?
        let host: String?
        let tag: String?
        let form: DiskExportForm
        let list: String?
        /// The file with the encryption key of the cache.
        let keyFile: String?
        /// Whether an export of an encrypted cache is allowed.
        let decrypts: Bool
        let json: Bool

        private static let orders: [(String, DiskEntryOrder)] = [
            ("accessed", .lastUse), ("size", .size), ("age", .age), ("host", .host),
        ]
        private static let actionsByOption: [(String, Set<Action>)] = [
            ("max-size", [.trim]), ("max-age", [.trim]), ("sort", [.list]), ("glob", [.list, .clear, .export]),
            ("older-than", [.clear]), ("host", [.clear]), ("tag", [.clear, .import]), ("as", [.export]),
            ("input-file", [.import]), ("decrypt", [.export]),
        ]

        init(_ arguments: Arguments) throws(UsageError) {
            let names = Action.allCases.map(\.rawValue).joined(separator: ", ")
            try arguments.expectOperands(1...(.max), "action: \(names)")
            guard let action = Action(rawValue: arguments.operands[0]) else {
                throw UsageError("unknown action “\(arguments.operands[0])” (use one of \(names))")
            }
            for (option, actions) in Self.actionsByOption where arguments.has(option) && !actions.contains(action) {
                let allowed = Action.allCases.filter(actions.contains).map(\.rawValue).joined(separator: ", ")
                throw UsageError("--\(option) can only be used with \(allowed)")
            }
            self.action = action
            operands = Array(arguments.operands.dropFirst())
            directory = CacheDirectory.path(arguments.last("cache-dir"))
            isDirectoryRequired = arguments.has("cache-dir")
            maxSize = try arguments.bytes("max-size")
            maxAge = try arguments.seconds("max-age")
            let order = try arguments.choice("sort", of: Self.orders.map(\.0))
            self.order = Self.orders.first { $0.0 == order }?.1 ?? .lastUse
            glob = arguments.last("glob")
            olderThan = try arguments.seconds("older-than")
            host = arguments.last("host").map { HostName($0)?.text ?? $0 }
            tag = arguments.last("tag")
            form = try arguments.choice("as", of: ["images", "entries"]) == "entries" ? .entries : .images
            list = arguments.last("input-file")
            keyFile = arguments.last("encryption-key-file")
            decrypts = arguments.has("decrypt")
            json = arguments.has("json")
            try checkOperands()
        }

        private func checkOperands() throws(UsageError) {
            switch action {
            case .show where operands.count != 1: throw UsageError("show: exactly one KEY is required")
            case .export where operands.count != 1: throw UsageError("export: exactly one directory is required")
            case .import where operands.isEmpty && list == nil:
                throw UsageError("import: a directory, or pairs of a URL and a file, are required")
            case .import where operands.count > 1 && operands.count % 2 != 0:
                throw UsageError("import: a directory, or pairs of a URL and a file, are required")
            case .path, .info, .list, .verify, .trim, .clear:
                if let operand = operands.first { throw UsageError("unexpected argument “\(operand)”") }
            default: break
            }
        }
    }

    let options: Options
    let console: Console

    init(_ options: Options, _ console: Console) {
        self.options = options
        self.console = console
    }

    func run() async -> Int32 {
        guard options.action != .path else {
            report(["path": .string(options.directory)], options.directory)
            return ExitStatus.ok
        }
        var configuration = DiskCache.Configuration(path: options.directory)
        // Don't create a cache just to inspect it.
        let isThere = FileManager.default.fileExists(atPath: options.directory)
        guard isThere || options.action == .import else {
            guard !options.isDirectoryRequired else {
                return fail(
                    .cache(.systemCallFailed(operation: "Opening", path: options.directory, errno: ENOENT)),
                    "the cache directory \(options.directory) doesn’t exist")
            }
            return await act(nil, configuration)
        }
        do throws(ImageError) {
            configuration = try await configurationWithKey(configuration)
            let cache = try await BlockingWork.run { [configuration] () throws(ImageError) in
                try DiskCache(configuration: configuration)
            }
            let status: Int32
            do throws(ImageError) {
                if [.trim, .clear, .import].contains(options.action) { try await cache.requireWritable() }
                status = await act(cache, configuration)
            } catch {
                status = fail(error)
            }
            await cache.close()
            return status
        } catch {
            return fail(error)
        }
    }

    /// Returns a configuration with the encryption key in the file of the options, if there is one.
    private func configurationWithKey(
        _ configuration: DiskCache.Configuration
    ) async throws(ImageError) -> DiskCache.Configuration {
        guard let path = options.keyFile else { return configuration }
        var configuration = configuration
        configuration.encryptionKey = try await BlockingWork.run { () throws(ImageError) in
            try EncryptionKeyFile.key(at: path)
        }
        return configuration
    }

    private func act(_ cache: DiskCache?, _ configuration: DiskCache.Configuration) async -> Int32 {
        switch options.action {
        case .path: break
        case .info: reportInfo(await cache?.info(), limit: configuration.sizeLimit)
        case .list:
            reportList(await cache?.entries(matching: options.glob, sortedBy: options.order) ?? [])
        case .show: return await show(cache)
        case .verify: return await verify(cache)
        case .trim:
            return await removing(cache) { cache, progress in
                if let age = options.maxAge { await cache.trim(maxAge: .seconds(saturating: age), progress: nil) }
                // Without an option, trim the cache to its limit.
                guard options.maxAge == nil || options.maxSize != nil else { return }
                await cache.trim(toSize: options.maxSize ?? configuration.sizeLimit, progress: progress)
            }
        case .clear: return await clear(cache)
        case .export: return await export(cache)
        case .import: return await importing(cache)
        }
        return ExitStatus.ok
    }

    /// Prints the result of the action as JSON or as text. `error` is the reason of a failure, or `nil`.
    func report(_ json: JSONValue, _ text: String, error: ImageError? = nil) {
        if options.json { printJSON(json, error: error) } else { console.print(text) }
    }

    /// Prints a JSON object with the members that the objects of all actions have.
    func printJSON(_ json: JSONValue, error: ImageError? = nil) {
        guard case .object(let members) = json else { return }
        console.printJSON(
            .object(
                [
                    .init("action", .string(options.action.rawValue)),
                    .init("status", error == nil ? "ok" : "failed"),
                ] + members + [.init("error", error.map(JSONValue.init) ?? .null)]))
    }

    /// Reports a failure of the action. `message` is the text for standard error, or `nil` for that of the error.
    func fail(_ error: ImageError, _ message: String? = nil) -> Int32 {
        if options.json { printJSON(.object([]), error: error) }
        if let message { console.report(message) } else { console.report(nil, error) }
        return ExitStatus.failed
    }

    /// Runs an operation and shows its progress on a terminal.
    func showing<Value: Sendable>(
        _ label: String, bytes: Bool = false, _ work: @Sendable (@escaping DiskProgress) async -> Value
    ) async -> Value {
        let printer = WorkPrinter(TaskProgressDisplay(label, countsBytes: bytes), console)
        defer { printer.end() }
        return await work { done, total in printer.update(done: done, total: total) }
    }
}
