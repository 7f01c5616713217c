// SPDX-License-Identifier: MIT

import WebImageCore
import WebImageHTTP

/// What all steps of a download share: an object, so that thousands of waiting tasks hold no copies.
final class DownloadBasis: Sendable {
    /// Takes what came of a body that can be continued.
    typealias Keep = @Sendable (ResumePoint, TransferRequest) -> Void

    let request: LoadRequest
    let configuration: DownloaderConfiguration
    let keep: Keep?
    /// Fields of a request that has none of its own.
    private let ownFields: HTTPFields

    /// The basis of a downloader, for requests to come.
    init(_ request: LoadRequest, _ configuration: DownloaderConfiguration, keep: Keep? = nil) {
        self.request = request
        self.configuration = configuration
        self.keep = keep
        ownFields = Self.completed(configuration.fields, configuration)
    }

    private init(_ request: LoadRequest, like other: DownloadBasis) {
        self.request = request
        configuration = other.configuration
        keep = other.keep
        ownFields = other.ownFields
    }

    /// The same for another request.
    func with(_ request: LoadRequest) -> DownloadBasis { DownloadBasis(request, like: self) }

    /// The same for a changed request.
    func changed(_ change: (inout LoadRequest) -> Void) -> DownloadBasis {
        var request = request
        change(&request)
        return with(request)
    }

    /// The fields that the first step sends: the request's, then those of the configuration that it does not have.
    var fields: HTTPFields {
        guard !request.fields.lines.isEmpty else { return ownFields }
        var fields = request.fields
        for field in configuration.fields.lines where request.fields[field.name] == nil {
            fields.append(name: field.name, value: field.value)
        }
        return Self.completed(fields, configuration)
    }

    private static func completed(_ fields: HTTPFields, _ configuration: DownloaderConfiguration) -> HTTPFields {
        var fields = fields
        let defaults = [
            ("Accept", configuration.accept), ("User-Agent", configuration.userAgent),
            ("Accept-Encoding", ContentDecoder.accepted),
        ]
        for (name, value) in defaults where fields[name] == nil { fields.append(name: name, value: value) }
        return fields
    }
}
