// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// What all steps of a download share: an object, so that thousands of waiting tasks hold no copies.
final class DownloadBasis: Sendable {
    /// Takes what came of a body that can be continued.
    typealias Keep = @Sendable (ResumePoint, TransferRequest) -> Void

    let request: LoadRequest
    /// The URL that the caller asked for, before interceptors, redirects and alternatives.
    let source: URL
    let configuration: DownloaderConfiguration
    let keep: Keep?
    /// Fields of a request that has none of its own.
    private let ownFields: HTTPFields

    /// The basis of a downloader, for requests to come.
    init(_ request: LoadRequest, _ configuration: DownloaderConfiguration, keep: Keep? = nil) {
        self.request = request
        source = request.url
        self.configuration = configuration
        self.keep = keep
        ownFields = configuration.sent(HTTPFields())
    }

    private init(_ request: LoadRequest, source: URL, like other: DownloadBasis) {
        self.request = request
        self.source = source
        configuration = other.configuration
        keep = other.keep
        ownFields = other.ownFields
    }

    /// The same for another request, which stands for `source`.
    func with(_ request: LoadRequest, source: URL) -> DownloadBasis {
        DownloadBasis(request, source: source, like: self)
    }

    /// The same for a changed request.
    func changed(_ change: (inout LoadRequest) -> Void) -> DownloadBasis {
        var request = request
        change(&request)
        return with(request, source: source)
    }

    /// The fields that the first step sends: the request's, then those of the configuration that it does not have.
    var fields: HTTPFields {
        request.fields.lines.isEmpty ? ownFields : configuration.sent(request.fields)
    }
}
