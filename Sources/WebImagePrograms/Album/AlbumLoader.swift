// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// A loader for the images on the server of the bundled album.
///
/// The server runs in this process. So its images need no proxy, and a policy for the addresses of other servers doesn't
/// apply to them.
package struct AlbumLoader: ImageLoader {
    private let server: AlbumServer
    private let downloader: ImageDownloader

    /// Creates a loader. Except for the proxy, the allowed addresses, and the rate of starts, `configuration` applies to
    /// the downloads.
    package init(_ server: AlbumServer, _ configuration: ImageDownloader.Configuration) {
        self.server = server
        var configuration = configuration
        configuration.proxy = .disabled
        configuration.addressPolicy = .any
        configuration.maxStartsPerSecond = nil
        downloader = ImageDownloader(configuration: configuration)
    }

    package func canLoad(_ url: URL) -> Bool { server.serves(url) }

    package func load(_ request: LoadRequest, context: LoadContext) async throws(ImageError) -> LoadResponse {
        try await downloader.load(request, context: context)
    }
}
