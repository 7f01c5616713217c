// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// An object with the values that all steps of a download share, so thousands of waiting tasks don't each hold a copy.
final class DownloadContext: Sendable {
    /// An object with the values that all downloads of a downloader share, which avoids copies of the many properties.
    private final class Common: Sendable {
        let rules: ExchangeRules
        let keep: TransferRequest.Keep?
        /// The header fields for requests without header fields of their own.
        let headers: HTTPHeaderFields

        init(_ configuration: ImageDownloader.Configuration, keep: TransferRequest.Keep?) {
            rules = ExchangeRules(configuration)
            self.keep = keep
            headers = configuration.sent(HTTPHeaderFields())
        }
    }

    let request: LoadRequest
    /// The URL of the caller's request, before interceptors, redirects, and alternatives.
    let source: URL
    /// The rules of the configuration with the options of the request.
    let rules: ExchangeRules
    private let common: Common

    var configuration: ImageDownloader.Configuration { common.rules.configuration }
    var keep: TransferRequest.Keep? { common.keep }

    /// Creates the basis of a downloader, from which the basis of each request is derived.
    init(_ request: LoadRequest, _ configuration: ImageDownloader.Configuration, keep: TransferRequest.Keep? = nil) {
        self.request = request
        source = request.url
        common = Common(configuration, keep: keep)
        rules = common.rules
    }

    private init(_ request: LoadRequest, source: URL, like other: DownloadContext) {
        self.request = request
        self.source = source
        common = other.common
        rules = common.rules.applying(request.network)
    }

    /// Returns the basis for another request, which replaces the caller's request for `source`.
    func with(_ request: LoadRequest, source: URL) -> DownloadContext {
        DownloadContext(request, source: source, like: self)
    }

    /// Returns the basis for a modified request.
    func changed(_ change: (inout LoadRequest) -> Void) -> DownloadContext {
        var request = request
        change(&request)
        return with(request, source: source)
    }

    /// The policy for retries.
    var retry: RetryPolicy { request.mayBeRetried ? rules.retry : .never }

    /// The header fields of the first step: those of the request, and those of the configuration that the request
    /// doesn't have.
    var headers: HTTPHeaderFields {
        request.headers.lines.isEmpty ? common.headers : configuration.sent(request.headers)
    }
}
