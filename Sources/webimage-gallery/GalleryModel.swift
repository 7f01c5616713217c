// SPDX-License-Identifier: MIT

#if GTK
    import Dispatch
    import Foundation
    import WebImage
    import WebImagePrograms

    /// What the window shows: pictures, settings, and who loads them.
    @MainActor
    final class GalleryModel {
        /// Why the gallery cannot begin.
        struct Failure: Error {
            let message: String
        }

        let manager: ImageManager
        /// Serves the bundled album; nil where other pictures are shown.
        let server: AlbumServer?
        private(set) var contents: GalleryContents
        var settings: GallerySettings {
            didSet {
                guard settings != oldValue else { return }
                if settings.network != oldValue.network { server?.behaviour = settings.network }
                onSettingsChange?(oldValue)
            }
        }
        /// Called when ``contents`` shows other pictures, or in another order.
        var onContentsChange: (() -> Void)?
        /// Called with the settings before.
        var onSettingsChange: ((GallerySettings) -> Void)?
        /// A folder of its own for the album's cache, removed at the end.
        private let temporary: URL?

        /// Reads what is to be shown. Blocks. `report` is told of what cannot be read; only where nothing is left it throws.
        init(_ options: GalleryOptions, report: (String) -> Void) throws(Failure) {
            var settings = options.settings
            if options.operands.isEmpty {
                let (album, server) = try Self.album()
                server.behaviour = settings.network
                self.server = server
                contents = GalleryContents(album, on: server, count: options.cells, withBroken: options.broken)
            } else {
                let (contents, failures) = GalleryContents.read(options.operands)
                for failure in failures { report("\(failure)") }
                guard !contents.items.isEmpty else {
                    throw Failure(
                        message: failures.isEmpty ? "there is no picture in what was given" : "nothing to show")
                }
                self.contents = contents
                server = nil
                settings.network = NetworkBehaviour()
            }
            contents.order = options.order
            contents.filter = options.filter
            self.settings = settings
            // The album's addresses are others at every start; what is kept of them is of no use afterwards.
            temporary =
                server != nil && options.cache == nil
                ? FileManager.default.temporaryDirectory.appending(path: "webimage-gallery-\(UUID().uuidString)") : nil
            let cache = temporary?.path(percentEncoded: false) ?? CacheFolder.path(options.cache)
            let isLocal = server != nil
            manager = ImageManager {
                $0.cache.disk = DiskCacheConfiguration(directory: cache)
                if isLocal { $0.downloader.startRate = nil }
            }
        }

        private static func album() throws(Failure) -> (Album, AlbumServer) {
            do {
                let album = try Album.find(environment: ProcessInfo.processInfo.environment)
                return (album, try AlbumServer(album))
            } catch let error as Album.Missing {
                throw Failure(message: error.message)
            } catch {
                throw Failure(message: "\(error)")
            }
        }

        /// Ends everything and removes what was only for this time. Blocks for a moment.
        func close() {
            let done = DispatchSemaphore(value: 0)
            Task.detached { [manager] in
                await manager.close()
                done.signal()
            }
            // What hangs must not keep the program from ending.
            _ = done.wait(timeout: .now() + 5)
            server?.stop()
            if let temporary { try? FileManager.default.removeItem(at: temporary) }
        }

        func setOrder(_ order: GalleryContents.Order) { change { $0.order = order } }

        func setFilter(_ filter: String) { change { $0.filter = filter } }

        /// Adds pictures, and gives the first of them.
        @discardableResult
        func add(_ urls: [URL]) -> GalleryItem? {
            var first: GalleryItem?
            change { first = $0.add(urls).first }
            return first
        }

        private func change(_ body: (inout GalleryContents) -> Void) {
            let before = contents.shown
            body(&contents)
            if contents.shown != before { onContentsChange?() }
        }
    }
#endif
