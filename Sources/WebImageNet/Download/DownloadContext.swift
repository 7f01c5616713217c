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

        init(_ rules: ExchangeRules, keep: TransferRequest.Keep?) {
            self.rules = rules
            self.keep = keep
        }
    }

    let request: LoadRequest
    /// The URL of the caller's request, before interceptors, redirects, and alternatives.
    let source: URL
    /// The rules of the configuration with the options of the request.
    let rules: ExchangeRules
    private let common: Common

    var configuration: ImageDownloader.Configuration { rules.configuration }
    /// The rules of the downloader, without the options of the request.
    var defaultRules: ExchangeRules { common.rules }
    var keep: TransferRequest.Keep? { common.keep }

    init(_ request: LoadRequest, _ rules: ExchangeRules, keep: TransferRequest.Keep? = nil) {
        self.request = request
        source = request.url
        common = Common(rules, keep: keep)
        self.rules = rules
    }

    private init(_ request: LoadRequest, source: URL, like other: DownloadContext) {
        self.request = request
        self.source = source
        common = other.common
        // The rules that a manager used for its keys take precedence over rules that changed in the meantime. The rules
        // of another downloader don't apply here.
        let captured = (request.rules as? ExchangeRules).flatMap { [common] in
            $0.hasSameOrigin(as: common.rules) ? $0 : nil
        }
        rules = (captured ?? common.rules).applying(request.network)
    }

    func with(_ request: LoadRequest, source: URL) -> DownloadContext {
        DownloadContext(request, source: source, like: self)
    }

    func changed(_ change: (inout LoadRequest) -> Void) -> DownloadContext {
        var request = request
        change(&request)
        return with(request, source: source)
    }

    var retry: RetryPolicy { request.mayBeRetried ? rules.retry : .never }

    /// The header fields of the request, and those of the configuration that the request doesn't have.
    var headers: HTTPHeaderFields { rules.sent(request.headers) }

    func replacing(headers: HTTPHeaderFields) -> DownloadContext {
        DownloadContext(request, common.rules.replacing(headers: headers), keep: common.keep)
    }
}
