// SPDX-License-Identifier: MIT

#if GTK
    import Dispatch
    import Foundation
    import WebImage
    import WebImageCommand
    import WebImagePrograms

    /// The model of the window: the images, the settings, and the manager.
    @MainActor
    final class GalleryModel {
        /// The reason that the gallery can't start.
        struct Failure: Error {
            let message: String
        }

        /// The limit for the memory of running decodes, in bytes.
        private static let decodingMemoryLimit = 48 << 20

        let manager: ImageManager
        /// The server of the bundled album, or `nil` if the gallery shows other images.
        let server: AlbumServer?
        private(set) var contents: GalleryContents
        var settings: GallerySettings {
            didSet {
                guard settings != oldValue else { return }
                if settings.network != oldValue.network { server?.behavior = settings.network }
                onSettingsChange?(oldValue)
            }
        }
        /// A closure that's called after the images in ``contents`` or their order changed.
        var onContentsChange: (() -> Void)?
        /// A closure that's called with the previous settings after a change.
        var onSettingsChange: ((GallerySettings) -> Void)?
        private let network: NetworkSetup
        /// The temporary directory of the album's cache, which is removed at the end.
        private let temporary: URL?

        /// Reads the images to show. Blocks. `report` is called for each input that can't be read. The initializer
        /// throws only if there's nothing to show.
        init(_ options: GalleryOptions, report: (String) -> Void) throws(Failure) {
            var settings = options.settings
            if options.showsAlbum {
                let (album, server) = try Self.album()
                server.behavior = settings.network
                self.server = server
                contents = GalleryContents(
                    album, on: server, count: options.cells, includingCorrupt: options.includesCorrupt)
            } else {
                let (contents, failures) = GalleryContents.read(options.operands, lists: options.lists)
                for failure in failures { report("\(failure)") }
                guard !contents.items.isEmpty else {
                    throw Failure(message: failures.isEmpty ? "No images found" : "Nothing to show")
                }
                self.contents = contents
                server = nil
                settings.network = SimulatedNetwork()
            }
            contents.order = options.order
            contents.filter = options.filter
            self.settings = settings
            // The URLs of the album change with every start, so its cached responses are useless afterward.
            temporary =
                server != nil && options.cache == nil
                ? FileManager.default.temporaryDirectory.appending(path: "webimage-gallery-\(UUID().uuidString)") : nil
            let cache = temporary?.path(percentEncoded: false) ?? CacheDirectory.path(options.cache)
            let albumServer = server
            network = options.network
            if let failure = network.prepare() { report("--\(failure.option): \(failure.error)") }
            manager = ImageManager {
                $0.diskCache = DiskCache.Configuration(path: cache)
                // The cells are small, so only a few formats need much memory. Decode such images one after another.
                $0.decodingMemoryLimit = Self.decodingMemoryLimit
                options.network.apply(to: &$0)
                if options.verbose { $0.logToStandardError() }
                // The cells limit the number of requests, and the limit for each server still applies.
                $0.downloader.maxStartsPerSecond = nil
                // Retries are a setting of the window, which can change while the program runs.
                if options.network.arguments.retryCount == 0 { $0.downloader.retry = .standard }
                if let albumServer { $0.loaders.append(AlbumLoader(albumServer, $0.downloader)) }
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

        /// Closes the manager and the server, and removes temporary files. May block for up to five seconds.
        func close() {
            let done = DispatchSemaphore(value: 0)
            Task.detached { [manager] in
                await manager.shutdown()
                done.signal()
            }
            // Don't let a hanging manager prevent the program from terminating.
            _ = done.wait(timeout: .now() + 5)
            do throws(ImageError) { try network.saveCookies() } catch { GalleryProgram.report("\(error)") }
            server?.stop()
            if let temporary { try? FileManager.default.removeItem(at: temporary) }
        }

        func setOrder(_ order: GalleryContents.Order) { change { $0.order = order } }

        func setFilter(_ filter: String) { change { $0.filter = filter } }

        @discardableResult
        func add(_ urls: [URL]) -> GalleryItem? {
            var first: GalleryItem?
            change { first = $0.add(urls).first }
            return first
        }

        private func change(_ body: (inout GalleryContents) -> Void) {
            let before = contents.visibleItems
            body(&contents)
            if contents.visibleItems != before { onContentsChange?() }
        }
    }
#endif
