// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// What all steps of a download share: an object, so that thousands of waiting tasks hold no copies.
final class DownloadBasis: Sendable {
    /// What all downloads of a downloader share: an object, so that none copies the many fields.
    private final class Common: Sendable {
        let rules: ExchangeRules
        let keep: TransferRequest.Keep?
        /// Fields of a request that has none of its own.
        let fields: HTTPFields

        init(_ configuration: DownloaderConfiguration, keep: TransferRequest.Keep?) {
            rules = ExchangeRules(configuration)
            self.keep = keep
            fields = configuration.sent(HTTPFields())
        }
    }

    let request: LoadRequest
    /// The URL that the caller asked for, before interceptors, redirects and alternatives.
    let source: URL
    /// The configuration's rules with the request's options.
    let rules: ExchangeRules
    private let common: Common

    var configuration: DownloaderConfiguration { common.rules.configuration }
    /// The rules of all downloads of the downloader.
    var shared: ExchangeRules { common.rules }
    var keep: TransferRequest.Keep? { common.keep }

    /// The basis of a downloader, for requests to come.
    init(_ request: LoadRequest, _ configuration: DownloaderConfiguration, keep: TransferRequest.Keep? = nil) {
        self.request = request
        source = request.url
        common = Common(configuration, keep: keep)
        rules = common.rules
    }

    private init(_ request: LoadRequest, source: URL, like other: DownloadBasis) {
        self.request = request
        self.source = source
        common = other.common
        rules = common.rules.applying(request.network, retry: request.retry)
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
        request.fields.lines.isEmpty ? common.fields : configuration.sent(request.fields)
    }
}
